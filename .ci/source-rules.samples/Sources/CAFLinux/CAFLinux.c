int caf_read(int file, void *bytes, size_t count) { return read(file, bytes, count); }
int caf_name(char *to, const char *from) { return strcpy(to, from) != 0; }  // expect: c-text
