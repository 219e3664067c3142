#include "engine/vocab/joints.h"

void
kvasir_joints_add (KvasirJoints *self, const char *text, gsize len)
{
  for (gsize i = 1; i < len; i++)
    if (kvasir_joints_is_space (text + i, len - i))
      self->before_space[(guint8) text[i - 1]] = 1;
    else
      self->pairs[(guint8) text[i - 1]][(guint8) text[i]] = 1;
}

gboolean
kvasir_joints_is_joint (const KvasirJoints *self, const char *text, gsize len, gsize i)
{
  guint8 before = (guint8) text[i - 1];
  guint8 first = (guint8) text[i];

  if ((first & 0xc0) == 0x80)
    return TRUE;
  if (first == 0xe2 && kvasir_joints_is_space (text + i, len - i))
    return self->before_space[before];
  return self->pairs[before][first];
}

gsize
kvasir_joints_find_end (const KvasirJoints *self, const char *text, gsize len, gsize start)
{
  gsize i = start + 1;

  while (i < len && kvasir_joints_is_joint (self, text, len, i))
    i++;
  return i;
}
