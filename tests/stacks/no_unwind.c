/*
 * no_unwind.c - a libunwind.so.8 with nothing in it, for the fallback's test.
 */
int cs_test_no_unwind;
