/* What libraries outside this project keep until the process ends is no leak of ours. LeakSanitizer
 * asks for this by name; without it nobody calls it. */
const char *__lsan_default_suppressions (void);

const char *
__lsan_default_suppressions (void)
{
  return "leak:libfontconfig\n"
         "leak:libpango\n"
         "leak:libgtk-4\n"
         "leak:libgallium\n"
         "leak:_dri.so\n"
         "leak:libGLX\n"
         "leak:libEGL\n"
         "leak:libX11\n";
}
