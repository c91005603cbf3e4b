/* Not cw_value_free(), which is in a comment. */
int cw_value_make(void);
