#include "ui/shell/sampling-fields.h"

#include <glib/gi18n.h>

static const struct
{
  const char *name;
  const char *help;
  double step;
  guint digits;
} fields[KVASIR_SAMPLING_N_NUMBERS] = {
  [KVASIR_SAMPLING_TEMPERATURE] = { N_ ("Temperature"),
                                    N_ ("Higher is more varied; 0 always takes the likeliest "
                                        "token."),
                                    0.1, 2 },
  [KVASIR_SAMPLING_SEED] = { N_ ("Seed"),
                             N_ ("The same seed draws the same answer. “Try again” adds one for "
                                 "each further answer."),
                             1, 0 },
  [KVASIR_SAMPLING_DYNATEMP_RANGE] = { N_ ("Temperature range"),
                                       N_ ("Lower where the model is sure, higher where it is "
                                           "not, by this much at most; 0 is off."),
                                       0.1, 2 },
  [KVASIR_SAMPLING_DYNATEMP_EXPONENT] = { N_ ("Temperature exponent"),
                                          N_ ("How the range follows the model's doubt; 1 is "
                                              "evenly."),
                                          0.1, 2 },
  [KVASIR_SAMPLING_TOP_K] = { N_ ("Top-k"), N_ ("Only so many of the likeliest tokens; 0 is off."),
                              1, 0 },
  [KVASIR_SAMPLING_TOP_P] = { N_ ("Top-p"),
                              N_ ("Only the likeliest tokens that together reach this chance; 1 "
                                  "is off."),
                              0.05, 2 },
  [KVASIR_SAMPLING_MIN_P] = { N_ ("Min-p"),
                              N_ ("Only tokens with at least this share of the likeliest one's "
                                  "chance; 0 is off."),
                              0.01, 2 },
  [KVASIR_SAMPLING_TYPICAL_P] = { N_ ("Typical-p"),
                                  N_ ("Only the tokens of most usual surprise that together reach "
                                      "this chance; 1 is off."),
                                  0.05, 2 },
  [KVASIR_SAMPLING_TOP_N_SIGMA] = { N_ ("Top-n-sigma"),
                                    N_ ("Only tokens within so many standard deviations of the "
                                        "best logit; 0 is off."),
                                    0.1, 2 },
  [KVASIR_SAMPLING_XTC_PROBABILITY] = { N_ ("XTC probability"),
                                        N_ ("How often the likeliest tokens are left out, for "
                                            "unusual words; 0 is off."),
                                        0.05, 2 },
  [KVASIR_SAMPLING_XTC_THRESHOLD] = { N_ ("XTC threshold"),
                                      N_ ("Of the tokens above this chance only the least likely "
                                          "stays."),
                                      0.05, 2 },
  [KVASIR_SAMPLING_MIROSTAT] = { N_ ("Mirostat version"),
                                 N_ ("1 or 2, in place of all cuts above; 0 is off."), 1, 0 },
  [KVASIR_SAMPLING_MIROSTAT_TAU] = { N_ ("Mirostat target"),
                                     N_ ("Surprise that each token should have, in bits."), 0.5,
                                     1 },
  [KVASIR_SAMPLING_MIROSTAT_ETA] = { N_ ("Mirostat rate"), N_ ("How fast it follows the text."),
                                     0.05, 2 },
  [KVASIR_SAMPLING_REPEAT_PENALTY] = { N_ ("Repeat penalty"),
                                       N_ ("Makes tokens that are there less likely by this "
                                           "factor; 1 is off."),
                                       0.05, 2 },
  [KVASIR_SAMPLING_PRESENCE_PENALTY] = { N_ ("Presence penalty"),
                                         N_ ("Taken off once where a token is there; 0 is off."),
                                         0.1, 2 },
  [KVASIR_SAMPLING_FREQUENCY_PENALTY] = { N_ ("Frequency penalty"),
                                          N_ ("Taken off for each time a token is there; 0 is "
                                              "off."),
                                          0.1, 2 },
  [KVASIR_SAMPLING_PENALTY_LAST_N] = { N_ ("Penalties look back"),
                                       N_ ("So many tokens, those of the prompt included."), 16,
                                       0 },
  [KVASIR_SAMPLING_DRY_MULTIPLIER] = { N_ ("DRY multiplier"),
                                       N_ ("Against phrases that were said before; 0.8 is usual, "
                                           "0 is off."),
                                       0.1, 2 },
  [KVASIR_SAMPLING_DRY_BASE] = { N_ ("DRY base"),
                                 N_ ("The penalty grows by this factor with each token of the "
                                     "phrase."),
                                 0.05, 2 },
  [KVASIR_SAMPLING_DRY_ALLOWED_LENGTH] = { N_ ("DRY allowed length"),
                                           N_ ("Phrases shorter than this may come again."), 1, 0 },
  [KVASIR_SAMPLING_DRY_LAST_N] = { N_ ("DRY looks back"),
                                   N_ ("So many tokens, those of the prompt included; 0 is off."),
                                   64, 0 },
  [KVASIR_SAMPLING_MAX_TOKENS] = { N_ ("Longest answer"), N_ ("In tokens; 0 is no limit."), 64, 0 },
};

const char *
kvasir_sampling_field_get_name (KvasirSamplingNumber number)
{
  return _ (fields[number].name);
}

const char *
kvasir_sampling_field_get_help (KvasirSamplingNumber number)
{
  return _ (fields[number].help);
}

GtkWidget *
kvasir_sampling_field_make_spin (KvasirSamplingNumber number)
{
  double min, max;
  GtkWidget *spin;

  kvasir_sampling_get_range (number, &min, &max);
  spin = gtk_spin_button_new_with_range (min, max, fields[number].step);
  gtk_spin_button_set_digits (GTK_SPIN_BUTTON (spin), fields[number].digits);
  /* Its own width would be that of its largest number. */
  gtk_editable_set_width_chars (GTK_EDITABLE (spin), 8);
  gtk_editable_set_max_width_chars (GTK_EDITABLE (spin), 8);
  gtk_widget_set_valign (spin, GTK_ALIGN_CENTER);
  gtk_accessible_update_property (GTK_ACCESSIBLE (spin), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ (fields[number].name), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                  _ (fields[number].help), -1);
  return spin;
}

GtkWidget *
kvasir_sampling_field_make_text (const char *name, GtkWidget **view)
{
  GtkWidget *scroller = gtk_scrolled_window_new ();

  *view = gtk_text_view_new ();
  gtk_text_view_set_accepts_tab (GTK_TEXT_VIEW (*view), FALSE);
  gtk_text_view_set_monospace (GTK_TEXT_VIEW (*view), TRUE);
  g_object_set (*view, "left-margin", 12, "right-margin", 12, "top-margin", 10, "bottom-margin", 10,
                NULL);
  if (name != NULL)
    gtk_accessible_update_property (GTK_ACCESSIBLE (*view), GTK_ACCESSIBLE_PROPERTY_LABEL, name,
                                    -1);
  gtk_scrolled_window_set_min_content_height (GTK_SCROLLED_WINDOW (scroller), 84);
  gtk_scrolled_window_set_max_content_height (GTK_SCROLLED_WINDOW (scroller), 160);
  gtk_scrolled_window_set_propagate_natural_height (GTK_SCROLLED_WINDOW (scroller), TRUE);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller), *view);
  gtk_widget_add_css_class (scroller, "prompt-view");
  return scroller;
}

GtkWidget *
kvasir_sampling_field_make_complaint (void)
{
  GtkWidget *complaint = gtk_label_new (NULL);

  gtk_label_set_xalign (GTK_LABEL (complaint), 0);
  gtk_label_set_wrap (GTK_LABEL (complaint), TRUE);
  gtk_widget_add_css_class (complaint, "error");
  gtk_widget_set_visible (complaint, FALSE);
  return complaint;
}
