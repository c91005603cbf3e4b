# A line for each unit test: cw_unit(NAME LIBS...)

cw_unit(base_test cw_base)
