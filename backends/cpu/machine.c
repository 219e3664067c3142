#include "backends/cpu/machine.h"

#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The first bytes of a file of the kernel's, as text. */
static bool
read_text (const char *path, char *text, size_t n_bytes)
{
  int fd = open (path, O_RDONLY | O_CLOEXEC);
  ssize_t n;

  if (fd < 0)
    return false;
  n = read (fd, text, n_bytes - 1);
  close (fd);
  text[n > 0 ? n : 0] = '\0';
  return n > 0;
}

static bool
get_allowed (cpu_set_t *set)
{
  CPU_ZERO (set);
  return sched_getaffinity (0, sizeof *set, set) == 0 && CPU_COUNT (set) > 0;
}

int
kvasir_machine_get_n_cpus (void)
{
  cpu_set_t set;
  long n;

  if (get_allowed (&set))
    return CPU_COUNT (&set);
  n = sysconf (_SC_NPROCESSORS_ONLN);
  return n > 0 ? (int) n : 1;
}

/* Whether an allowed processor of a lower number shares the core of @cpu. */
static bool
is_second_of_core (int cpu, const cpu_set_t *set)
{
  char path[96], text[64];
  int first;

  snprintf (path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
  if (!read_text (path, text, sizeof text))
    return false;
  first = atoi (text);
  return first != cpu && first >= 0 && first < CPU_SETSIZE && CPU_ISSET (first, set);
}

int
kvasir_machine_get_n_cores (void)
{
  cpu_set_t set;
  int n = 0;

  if (!get_allowed (&set))
    return kvasir_machine_get_n_cpus ();
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
    if (CPU_ISSET (cpu, &set) && !is_second_of_core (cpu, &set))
      n++;
  return n > 0 ? n : 1;
}

static size_t
find_kilobytes (const char *text, const char *key)
{
  const char *line = strstr (text, key);

  return line ? (size_t) strtoull (line + strlen (key), NULL, 10) * 1024 : 0;
}

void
kvasir_machine_get_memory (size_t *free_bytes, size_t *total_bytes)
{
  char text[512] = "";

  read_text ("/proc/meminfo", text, sizeof text);
  *free_bytes = find_kilobytes (text, "MemAvailable:");
  *total_bytes = find_kilobytes (text, "MemTotal:");
}

void
kvasir_machine_get_cpu_name (char *name, size_t n_bytes)
{
  char text[2048] = "";
  const char *line, *end;

  read_text ("/proc/cpuinfo", text, sizeof text);
  name[0] = '\0';
  line = strstr (text, "model name");
  line = line ? strchr (line, ':') : NULL;
  if (line == NULL)
    return;
  line += 1 + strspn (line + 1, " \t");
  end = strchrnul (line, '\n');
  snprintf (name, n_bytes, "%.*s", (int) (end - line), line);
}
