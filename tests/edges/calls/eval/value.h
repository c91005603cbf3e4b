int cw_value_make(void);
