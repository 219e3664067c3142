#include "ui/markdown/inline.h"

#include <string.h>

#include "ui/markdown/builder.h"

/* Deeper tags change nothing that an eye can see. */
#define MAX_TAGS 12

typedef struct
{
  GPtrArray *pieces; /* (owned) of char* */
  GString *markup;   /* (owned) */
  gsize n_visible;   /* bytes of text in the piece */
  gsize max_visible;
  char *open[MAX_TAGS]; /* (owned) opening tags in force */
  const char *close[MAX_TAGS];
  guint depth; /* tags asked for, may be more than MAX_TAGS */
} Inline;

gboolean
kvasir_url_is_allowed (const char *url)
{
  static const char *const schemes[] = { "http://", "https://", "mailto:" };

  for (guint i = 0; i < G_N_ELEMENTS (schemes); i++)
    if (g_ascii_strncasecmp (url, schemes[i], strlen (schemes[i])) == 0)
      return TRUE;
  return FALSE;
}

static guint
get_n_open (const Inline *self)
{
  return MIN (self->depth, MAX_TAGS);
}

static void
push_tag (Inline *self, char *open, const char *close)
{
  if (self->depth < MAX_TAGS)
    {
      g_string_append (self->markup, open);
      self->open[self->depth] = g_steal_pointer (&open);
      self->close[self->depth] = close;
    }
  g_free (open);
  self->depth++;
}

static void
pop_tag (Inline *self)
{
  g_assert (self->depth > 0);
  self->depth--;
  if (self->depth >= MAX_TAGS)
    return;
  g_string_append (self->markup, self->close[self->depth]);
  g_clear_pointer (&self->open[self->depth], g_free);
}

/* Ends the piece with all tags closed and opens them again in the next one. */
static void
break_piece (Inline *self)
{
  for (guint i = get_n_open (self); i > 0; i--)
    g_string_append (self->markup, self->close[i - 1]);
  g_ptr_array_add (self->pieces, g_string_free (self->markup, FALSE));
  self->markup = g_string_new (NULL);
  self->n_visible = 0;
  for (guint i = 0; i < get_n_open (self); i++)
    g_string_append (self->markup, self->open[i]);
}

static void
append_text (Inline *self, const char *text)
{
  gsize len = text != NULL ? strlen (text) : 0;

  while (len > 0)
    {
      gsize room;
      gsize piece;

      if (self->n_visible + 4 > self->max_visible)
        break_piece (self);
      room = self->max_visible - self->n_visible;
      piece = kvasir_text_get_piece (text, len, room);
      kvasir_markup_append (self->markup, text, (gssize) piece);
      self->n_visible += piece;
      text += piece;
      len -= piece;
      /* Cut where no line breaks: the next part must not make this one longer again. */
      if (len > 0 && text[-1] != ' ' && text[-1] != '\n')
        break_piece (self);
    }
}

/* ---- links and images */

static void
push_link (Inline *self, cmark_node *node)
{
  const char *url = cmark_node_get_url (node);

  if (url != NULL && kvasir_url_is_allowed (url))
    {
      g_autoptr (GString) safe = g_string_new (NULL);

      kvasir_markup_append (safe, url, -1);
      push_tag (self, g_strdup_printf ("<a href=\"%s\" title=\"%s\">", safe->str, safe->str),
                "</a>");
    }
  else
    push_tag (self, g_strdup ("<u>"), "</u>");
}

/* An address that cannot be opened is shown, so that nothing is hidden behind a word. */
static void
pop_link (Inline *self, cmark_node *node)
{
  const char *url = cmark_node_get_url (node);

  pop_tag (self);
  if (url == NULL || *url == '\0' || kvasir_url_is_allowed (url))
    return;
  append_text (self, " (");
  append_text (self, url);
  append_text (self, ")");
}

static void
pop_image (Inline *self, cmark_node *node)
{
  append_text (self, " · ");
  append_text (self, cmark_node_get_url (node));
  append_text (self, "]");
}

static void
add_code (Inline *self, cmark_node *node)
{
  push_tag (self, g_strdup ("<tt>"), "</tt>");
  append_text (self, cmark_node_get_literal (node));
  pop_tag (self);
}

static void
leave (Inline *self, cmark_node *node, cmark_node_type type)
{
  if (type == CMARK_NODE_LINK)
    pop_link (self, node);
  else if (type == CMARK_NODE_IMAGE)
    pop_image (self, node);
  else
    pop_tag (self);
}

static gboolean
is_strikethrough (cmark_node *node)
{
  return g_str_equal (cmark_node_get_type_string (node), "strikethrough");
}

static void
enter_styled (Inline *self, cmark_node *node, cmark_node_type type)
{
  if (type == CMARK_NODE_EMPH)
    push_tag (self, g_strdup ("<i>"), "</i>");
  else if (type == CMARK_NODE_STRONG)
    push_tag (self, g_strdup ("<b>"), "</b>");
  else if (type == CMARK_NODE_LINK)
    push_link (self, node);
  else if (type == CMARK_NODE_IMAGE)
    append_text (self, "[🖼 ");
  else
    push_tag (self, g_strdup (is_strikethrough (node) ? "<s>" : "<span>"),
              is_strikethrough (node) ? "</s>" : "</span>");
}

static void
enter (Inline *self, cmark_node *node, cmark_node_type type)
{
  if (type == CMARK_NODE_CODE)
    add_code (self, node);
  else if (type == CMARK_NODE_SOFTBREAK || type == CMARK_NODE_LINEBREAK)
    append_text (self, "\n");
  else if (cmark_node_get_literal (node) != NULL)
    append_text (self, cmark_node_get_literal (node));
  else
    enter_styled (self, node, type);
}

/* Nodes that have no exit event. */
static gboolean
is_leaf (cmark_node_type type)
{
  return type == CMARK_NODE_TEXT || type == CMARK_NODE_SOFTBREAK || type == CMARK_NODE_LINEBREAK ||
         type == CMARK_NODE_CODE || type == CMARK_NODE_HTML_INLINE;
}

GPtrArray *
kvasir_inline_render (cmark_node *node, gsize max_bytes)
{
  Inline self = { .pieces = g_ptr_array_new_with_free_func (g_free),
                  .markup = g_string_new (NULL),
                  .max_visible = max_bytes };
  cmark_iter *iter = cmark_iter_new (node);
  cmark_event_type event;

  while ((event = cmark_iter_next (iter)) != CMARK_EVENT_DONE)
    {
      cmark_node *at = cmark_iter_get_node (iter);
      cmark_node_type type = cmark_node_get_type (at);

      if (at == node)
        continue;
      if (event == CMARK_EVENT_ENTER)
        enter (&self, at, type);
      else if (!is_leaf (type))
        leave (&self, at, type);
    }
  cmark_iter_free (iter);
  g_assert (self.depth == 0);
  if (self.markup->len > 0 || self.pieces->len == 0)
    g_ptr_array_add (self.pieces, g_string_free (self.markup, FALSE));
  else
    g_string_free (self.markup, TRUE);
  return self.pieces;
}
