#include <glib/gi18n.h>

#include "ui/shell/window-private.h"

#define MAX_TITLE_CHARS 200

static AdwMessageDialog *
make_dialog (KvasirWindow *self, const char *heading, const char *body, const char *accept)
{
  AdwMessageDialog *dialog =
      ADW_MESSAGE_DIALOG (adw_message_dialog_new (GTK_WINDOW (self), heading, body));

  adw_message_dialog_add_responses (dialog, "cancel", _ ("_Cancel"), "accept", accept, NULL);
  adw_message_dialog_set_response_appearance (dialog, "accept", ADW_RESPONSE_SUGGESTED);
  adw_message_dialog_set_default_response (dialog, "accept");
  adw_message_dialog_set_close_response (dialog, "cancel");
  return dialog;
}

static gboolean
is_accepted (const char *response)
{
  return g_str_equal (response, "accept");
}

/* ---- a chat's title */

static void
title_response_cb (AdwMessageDialog *dialog, const char *response, KvasirChat *chat)
{
  GtkWidget *entry = adw_message_dialog_get_extra_child (dialog);
  const char *title = gtk_editable_get_text (GTK_EDITABLE (entry));

  if (is_accepted (response) && *title != '\0')
    kvasir_chat_set_title (chat, title, TRUE);
}

void
kvasir_window_ask_title (KvasirWindow *self, KvasirChat *chat)
{
  AdwMessageDialog *dialog = make_dialog (self, _ ("Rename the Chat"), NULL, _ ("_Rename"));
  GtkWidget *entry = gtk_entry_new ();

  gtk_editable_set_text (GTK_EDITABLE (entry), kvasir_chat_get_title (chat));
  gtk_entry_set_max_length (GTK_ENTRY (entry), MAX_TITLE_CHARS);
  gtk_entry_set_activates_default (GTK_ENTRY (entry), TRUE);
  gtk_accessible_update_property (GTK_ACCESSIBLE (entry), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Title"), -1);
  adw_message_dialog_set_extra_child (dialog, entry);
  g_signal_connect_object (dialog, "response", G_CALLBACK (title_response_cb), chat, 0);
  gtk_window_present (GTK_WINDOW (dialog));
}

/* ---- the system prompt */

static GtkTextBuffer *
get_prompt_buffer (AdwMessageDialog *dialog)
{
  GtkWidget *scroller = adw_message_dialog_get_extra_child (dialog);
  GtkWidget *view = gtk_scrolled_window_get_child (GTK_SCROLLED_WINDOW (scroller));

  return gtk_text_view_get_buffer (GTK_TEXT_VIEW (view));
}

static void
prompt_response_cb (AdwMessageDialog *dialog, const char *response, KvasirChat *chat)
{
  GtkTextBuffer *buffer = get_prompt_buffer (dialog);
  g_autofree char *text = NULL;
  GtkTextIter start, end;

  if (!is_accepted (response))
    return;
  gtk_text_buffer_get_bounds (buffer, &start, &end);
  text = gtk_text_buffer_get_text (buffer, &start, &end, TRUE);
  g_object_set (chat, "system-prompt", text, NULL);
}

static GtkWidget *
make_prompt_view (const char *text)
{
  GtkWidget *scroller = gtk_scrolled_window_new ();
  GtkWidget *view = gtk_text_view_new ();

  gtk_text_view_set_wrap_mode (GTK_TEXT_VIEW (view), GTK_WRAP_WORD_CHAR);
  gtk_text_view_set_accepts_tab (GTK_TEXT_VIEW (view), FALSE);
  g_object_set (view, "left-margin", 10, "right-margin", 10, "top-margin", 10, "bottom-margin", 10,
                NULL);
  gtk_text_buffer_set_text (gtk_text_view_get_buffer (GTK_TEXT_VIEW (view)), text, -1);
  gtk_accessible_update_property (GTK_ACCESSIBLE (view), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("System prompt"), -1);
  gtk_widget_set_size_request (scroller, -1, 160);
  gtk_widget_add_css_class (scroller, "prompt-view");
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller), view);
  return scroller;
}

void
kvasir_window_ask_system_prompt (KvasirWindow *self)
{
  AdwMessageDialog *dialog =
      make_dialog (self, _ ("System Prompt"),
                   _ ("What the model is told before this chat begins. A change is read with the "
                      "next message, and everything after it is read again."),
                   _ ("_Save"));

  adw_message_dialog_set_extra_child (
      dialog, make_prompt_view (kvasir_chat_get_system_prompt (self->current)));
  g_signal_connect_object (dialog, "response", G_CALLBACK (prompt_response_cb), self->current, 0);
  gtk_window_present (GTK_WINDOW (dialog));
}

/* ---- links */

static void
link_response_cb (AdwMessageDialog *dialog, const char *response, gpointer user_data)
{
  const char *uri = g_object_get_data (G_OBJECT (dialog), "kvasir-uri");

  if (is_accepted (response))
    gtk_show_uri (gtk_window_get_transient_for (GTK_WINDOW (dialog)), uri, GDK_CURRENT_TIME);
}

void
kvasir_window_ask_link (KvasirWindow *self, const char *uri)
{
  AdwMessageDialog *dialog = make_dialog (self, _ ("Open This Address?"), uri, _ ("_Open"));

  g_object_set_data_full (G_OBJECT (dialog), "kvasir-uri", g_strdup (uri), g_free);
  g_signal_connect (dialog, "response", G_CALLBACK (link_response_cb), NULL);
  gtk_window_present (GTK_WINDOW (dialog));
}

/* ---- about */

void
kvasir_window_show_about (KvasirWindow *self)
{
  adw_show_about_window (GTK_WINDOW (self), "application-name", "Kvasir", "application-icon",
                         "org.kvasir.Kvasir", "version", KVASIR_VERSION, "developer-name",
                         _ ("The Kvasir developers"), "license-type", GTK_LICENSE_MIT_X11,
                         "comments",
                         _ ("Runs language models on this computer and shows their memory."),
                         "debug-info", self->build_facts, NULL);
}
