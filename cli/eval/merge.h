/* metric-eval merge: several captures as one. */
#ifndef CW_CLI_EVAL_MERGE_H
#define CW_CLI_EVAL_MERGE_H

/* argv[0] is the command's name for messages. Returns the exit code. */
int cw_eval_merge(int argc, char **argv);

#endif
