/* Other profilers, which variables of the environment name. */
#ifndef CW_AGENT_OTHER_TOOL_H
#define CW_AGENT_OTHER_TOOL_H

/* The library that the variable names, such as CUDA_INJECTION64_PATH; NULL if it names none or the agent's own. */
const char *cw_other_tool(const char *variable);

#endif
