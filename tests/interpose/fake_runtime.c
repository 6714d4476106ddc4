/*
 * fake_runtime.c - a runtime with one function that tells which runtime it is.
 */
int cudaFree(void *p);
int cudaFree(void *p)
{
    return p ? -1 : FAKE_VERSION;
}
