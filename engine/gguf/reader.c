#include "engine/gguf/reader.h"

#include "engine/error.h"
#include "engine/gguf/gguf.h"
#include "engine/huge-pages.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One read covers the header of a small model; a vocabulary takes a few doublings more, and room
 * for the largest ones, which costs nothing before it is read into. */
#define FIRST_READ_BYTES ((gsize) 64 * 1024)
#define LARGE_HEADER_BYTES ((gsize) 32 << 20)
#define QUOTED_BYTES 64

static void
set_file_error (GError **error, const char *path, const char *verb, int code)
{
  g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_FILE, "%s: cannot be %s: %s", path,
               verb, g_strerror (code));
}

int
kvasir_gguf_open_file (const char *path, gsize *file_bytes, GError **error)
{
  struct stat info;
  /* Without O_NONBLOCK opening a pipe would wait for a writer. */
  int fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

  if (fd < 0 || fstat (fd, &info) != 0)
    {
      set_file_error (error, path, "opened", errno);
      if (fd >= 0)
        close (fd);
      return -1;
    }
  if (!S_ISREG (info.st_mode))
    {
      g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_FILE,
                   "%s: expected a regular file, found %s", path,
                   S_ISDIR (info.st_mode) ? "a folder" : "a device or pipe");
      close (fd);
      return -1;
    }
  *file_bytes = (gsize) info.st_size;
  return fd;
}

gboolean
kvasir_gguf_reader_init (KvasirGgufReader *self, const char *path, GError **error)
{
  memset (self, 0, sizeof *self);
  self->path = path;
  self->fd = kvasir_gguf_open_file (path, &self->file_bytes, error);
  return self->fd >= 0;
}

void
kvasir_gguf_reader_clear (KvasirGgufReader *self)
{
  if (self->fd >= 0)
    close (self->fd);
  self->fd = -1;
  g_clear_pointer (&self->bytes, g_free);
}

gboolean
kvasir_gguf_reader_fail (
    const KvasirGgufReader *self, gsize offset, GError **error, const char *format, ...)
{
  g_autofree char *message = NULL;
  va_list args;

  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_FILE,
               "%s: byte %" G_GSIZE_FORMAT ": %s", self->path, offset, message);
  return FALSE;
}

static gboolean
reserve (KvasirGgufReader *self, gsize n_bytes, GError **error)
{
  gsize least = n_bytes > FIRST_READ_BYTES ? LARGE_HEADER_BYTES : FIRST_READ_BYTES;
  gsize n_alloc = MIN (MAX (n_bytes, MAX (least, 2 * self->n_alloc)), self->file_bytes);
  guint8 *bytes;

  if (n_bytes <= self->n_alloc)
    return TRUE;
  bytes = kvasir_huge_pages_alloc (n_alloc + KVASIR_GGUF_PADDING);
  if (!bytes)
    return kvasir_gguf_reader_no_memory (self, "bytes of header", n_alloc, error);
  if (self->n_held > 0)
    memcpy (bytes, self->bytes, self->n_held);
  g_free (self->bytes);
  self->bytes = bytes;
  self->n_alloc = n_alloc;
  return TRUE;
}

/* Reads the @n_bytes wanted and more; what lies behind them is needed next. */
static gboolean
fill (KvasirGgufReader *self, gsize n_bytes, GError **error)
{
  gsize end = MIN (self->n_alloc, MAX (n_bytes, MAX (FIRST_READ_BYTES, 2 * self->n_held)));

  while (self->n_held < end)
    {
      gssize n =
          pread (self->fd, self->bytes + self->n_held, end - self->n_held, (off_t) self->n_held);
      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        {
          set_file_error (error, self->path, "read", errno);
          return FALSE;
        }
      if (n == 0)
        return kvasir_gguf_reader_fail (self, self->n_held, error,
                                        "expected a file of %" G_GSIZE_FORMAT
                                        " bytes, found its end here: it changed while being read",
                                        self->file_bytes);
      self->n_held += (gsize) n;
    }
  return TRUE;
}

gboolean
kvasir_gguf_reader_need (KvasirGgufReader *self, guint64 n, const char *what, GError **error)
{
  gsize n_left = self->file_bytes - self->pos;

  if (n > n_left)
    return kvasir_gguf_reader_fail (self, self->pos, error,
                                    "%s: expected %" G_GUINT64_FORMAT
                                    " bytes, found %" G_GSIZE_FORMAT " up to the end of the file",
                                    what, n, n_left);
  if (self->pos + n <= self->n_held)
    return TRUE;
  return reserve (self, self->pos + n, error) && fill (self, self->pos + n, error);
}

gboolean
kvasir_gguf_reader_skip (
    KvasirGgufReader *self, guint64 n, const char *what, gsize *offset, GError **error)
{
  if (!kvasir_gguf_reader_need (self, n, what, error))
    return FALSE;
  if (offset)
    *offset = self->pos;
  self->pos += n;
  return TRUE;
}

gboolean
kvasir_gguf_reader_u32 (KvasirGgufReader *self, const char *what, guint32 *value, GError **error)
{
  gsize offset = 0;

  if (!kvasir_gguf_reader_skip (self, sizeof *value, what, &offset, error))
    return FALSE;
  memcpy (value, self->bytes + offset, sizeof *value);
  *value = GUINT32_FROM_LE (*value);
  return TRUE;
}

gboolean
kvasir_gguf_reader_u64 (KvasirGgufReader *self, const char *what, guint64 *value, GError **error)
{
  gsize offset = 0;

  if (!kvasir_gguf_reader_skip (self, sizeof *value, what, &offset, error))
    return FALSE;
  memcpy (value, self->bytes + offset, sizeof *value);
  *value = GUINT64_FROM_LE (*value);
  return TRUE;
}

gboolean
kvasir_gguf_reader_string (KvasirGgufReader *self,
                           const char *what,
                           guint64 max,
                           gsize *offset,
                           guint64 *len,
                           GError **error)
{
  gsize n_held = self->n_held - self->pos;

  /* Vocabularies have hundreds of thousands, nearly all of which are held when it comes to them. */
  if (n_held >= sizeof *len)
    {
      memcpy (len, self->bytes + self->pos, sizeof *len);
      *len = GUINT64_FROM_LE (*len);
      if (*len <= max && *len <= n_held - sizeof *len)
        {
          *offset = self->pos + sizeof *len;
          self->pos = *offset + *len;
          return TRUE;
        }
    }
  if (!kvasir_gguf_reader_u64 (self, what, len, error))
    return FALSE;
  if (*len > max)
    return kvasir_gguf_reader_fail (self, self->pos - sizeof *len, error,
                                    "%s: expected a length of at most %" G_GUINT64_FORMAT
                                    " bytes, found %" G_GUINT64_FORMAT,
                                    what, max, *len);
  return kvasir_gguf_reader_skip (self, *len, what, offset, error);
}

gboolean
kvasir_gguf_reader_check_count (const KvasirGgufReader *self,
                                const char *what,
                                guint64 n,
                                guint64 max,
                                gsize min_bytes,
                                GError **error)
{
  gsize n_left = self->file_bytes - self->pos;

  if (n > max)
    return kvasir_gguf_reader_fail (
        self, self->pos - sizeof n, error,
        "%s: expected at most %" G_GUINT64_FORMAT ", found %" G_GUINT64_FORMAT, what, max, n);
  if (n > n_left / min_bytes)
    return kvasir_gguf_reader_fail (self, self->pos - sizeof n, error,
                                    "%s: expected at most %" G_GSIZE_FORMAT
                                    " in the %" G_GSIZE_FORMAT
                                    " bytes left in the file, found %" G_GUINT64_FORMAT,
                                    what, n_left / min_bytes, n_left, n);
  return TRUE;
}

gboolean
kvasir_gguf_reader_no_memory (const KvasirGgufReader *self,
                              const char *what,
                              guint64 n,
                              GError **error)
{
  g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_NO_MEMORY,
               "%s: no memory for %" G_GUINT64_FORMAT " %s", self->path, n, what);
  return FALSE;
}

char *
kvasir_gguf_quote (const void *bytes, gsize len)
{
  g_autofree char *text = g_strndup (bytes, MIN (len, QUOTED_BYTES));
  g_autofree char *escaped = g_strescape (text, NULL);

  return g_strdup_printf ("\"%s\"%s", escaped, len > QUOTED_BYTES ? "..." : "");
}
