# Streams of several contexts with one number have several names.
# The handles that the contexts have are long: their order is that of time.
metric-eval "$SOURCE"/data/captures/contexts.cwd --by stream -m gpu__time_duration.sum --csv - | cut -d, -f1,4
