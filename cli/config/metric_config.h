/* Plans the counters of metrics, in passes. */
#ifndef CW_CLI_CONFIG_METRIC_CONFIG_H
#define CW_CLI_CONFIG_METRIC_CONFIG_H

/* The program metric-config, and the same as a command, whose argv[0] is its name in messages. Both return the exit
 * code. */
int cw_config_main(int argc, char **argv);
int cw_config_plan(int argc, char **argv);

#endif
