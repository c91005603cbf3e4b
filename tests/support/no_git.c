/* Stands in for libgit2, with which Criterion shows how the texts of a failed eq(str, ...) differ. No test has one. */
int git_libgit2_init(void);
int git_libgit2_shutdown(void);
int git_diff_buffers(void);

int git_libgit2_init(void)
{
    return 1;
}

int git_libgit2_shutdown(void)
{
    return 0;
}

int git_diff_buffers(void)
{
    return -1; /* an error */
}
