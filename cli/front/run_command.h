#ifndef CW_CLI_FRONT_RUN_COMMAND_H
#define CW_CLI_FRONT_RUN_COMMAND_H

int cw_front_run(int argc, char **argv);

#endif
