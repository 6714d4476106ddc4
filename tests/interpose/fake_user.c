/*
 * fake_user.c - a library linked with one particular runtime, as a Python package's extension is.
 */
int cudaFree(void *p);
int which_runtime(void);
int which_runtime(void)
{
    /* Not a tail call: a hook knows its caller by the return address. */
    volatile int version = cudaFree(0);
    return version;
}
