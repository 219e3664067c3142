#include "tests/engine/model/sliding-sketches.h"

static void
begin (GString *text, const char *arch, guint n_layers)
{
  g_string_append_printf (text,
                          "arch %s\nu32 vocab_size 6\nu32 block_count %u\nu32 context_length 64\n"
                          "u32 embedding_length 8\nu32 feed_forward_length 16\n"
                          "u32 attention.head_count 2\nu32 attention.head_count_kv 1\n"
                          "f32 attention.layer_norm_rms_epsilon 1e-5\n"
                          "tensor token_embd.weight 8 6\ntensor output_norm.weight 8\n",
                          arch, n_layers);
}

void
sketch_add_layer (GString *text, guint il, const char *tensors)
{
  g_auto (GStrv) lines = g_strsplit (tensors, "\n", -1);

  for (guint i = 0; lines[i] != NULL; i++)
    if (lines[i][0] != '\0')
      g_string_append_printf (text, "tensor blk.%u.%s\n", il, lines[i]);
}

static const char attention[] = "attn_norm.weight 8\nattn_q.weight 8 8\nattn_k.weight 8 4\n"
                                "attn_v.weight 8 4\nattn_output.weight 8 8\n";
static const char net[] = "ffn_norm.weight 8\nffn_gate.weight 8 16\nffn_up.weight 8 16\n"
                          "ffn_down.weight 16 8\n";
static const char post_norms[] = "post_attention_norm.weight 8\npost_ffw_norm.weight 8\n";
static const char experts[] = "ffn_gate_inp.weight 8 4\nffn_gate_exps.weight 8 16 4\n"
                              "ffn_up_exps.weight 8 16 4\nffn_down_exps.weight 16 8 4\n";

char *
sketch_gemma (const char *arch, guint n_layers)
{
  GString *text = g_string_new (NULL);

  begin (text, arch, n_layers);
  for (guint il = 0; il < n_layers; il++)
    {
      sketch_add_layer (text, il, attention);
      sketch_add_layer (text, il, net);
      sketch_add_layer (text, il, post_norms);
    }
  return g_string_free (text, FALSE);
}

char *
sketch_gemma3n (guint n_layers)
{
  GString *text = g_string_new (NULL);
  static const char more[] =
      "inp_gate.weight 8 2\nproj.weight 2 8\npost_norm.weight 8\naltup_correct_coef.weight 4 4\n"
      "altup_correct_scale.weight 8\naltup_predict_coef.weight 4 16\naltup_router.weight 8 4\n"
      "altup_router_norm.weight 8\nlaurel_l.weight 8 3\nlaurel_r.weight 3 8\n"
      "laurel_post_norm.weight 8\n";

  begin (text, "gemma3n", n_layers);
  g_string_append_printf (text,
                          "u32 attention.sliding_window 32\n"
                          "u32 embedding_length_per_layer_input 2\n"
                          "tensor per_layer_token_embd.weight %u 6\n"
                          "tensor per_layer_model_proj.weight 8 %u\n"
                          "tensor per_layer_proj_norm.weight 2\n"
                          "tensor altup_proj.weight 8 8 3\ntensor altup_unembd_proj.weight 8 8 3\n",
                          2 * n_layers, 2 * n_layers);
  for (guint il = 0; il < n_layers; il++)
    {
      sketch_add_layer (text, il, attention);
      sketch_add_layer (text, il, net);
      sketch_add_layer (text, il, post_norms);
      sketch_add_layer (text, il, more);
    }
  return g_string_free (text, FALSE);
}

char *
sketch_gemma4 (void)
{
  GString *text = g_string_new (NULL);
  static const char sliding[] = "attn_norm.weight 8\nattn_q.weight 8 4\nattn_k.weight 8 2\n"
                                "attn_v.weight 8 2\nattn_output.weight 4 8\n";
  static const char without_v[] = "attn_norm.weight 8\nattn_q.weight 8 8\nattn_k.weight 8 4\n"
                                  "attn_output.weight 8 8\n";

  begin (text, "gemma4", 4);
  g_string_append (text, "u32 attention.sliding_window 32\n"
                         "i32s attention.sliding_window_pattern 1 0 1 0\n"
                         "u32 attention.key_length 4\nu32 attention.value_length 4\n"
                         "u32 attention.key_length_swa 2\nu32 attention.value_length_swa 2\n"
                         "u32 attention.shared_kv_layers 2\nf32 rope.freq_base 1000000\n"
                         "tensor rope_freqs.weight 2\n");
  for (guint il = 0; il < 4; il++)
    {
      sketch_add_layer (text, il, il % 2 == 0 ? sliding : without_v);
      sketch_add_layer (text, il, net);
      sketch_add_layer (text, il, post_norms);
    }
  return g_string_free (text, FALSE);
}

char *
sketch_gpt_oss (void)
{
  GString *text = g_string_new (NULL);

  begin (text, "gpt-oss", 4);
  g_string_append (text, "u32 attention.sliding_window 128\nu32 expert_count 4\n"
                         "u32 expert_used_count 2\nu32 expert_feed_forward_length 16\n");
  for (guint il = 0; il < 4; il++)
    {
      sketch_add_layer (text, il, attention);
      sketch_add_layer (text, il, experts);
      sketch_add_layer (text, il,
                        "post_attention_norm.weight 8\nattn_sinks.weight 2\n"
                        "ffn_gate_inp.bias 4\nffn_up_exps.bias 16 4\nffn_gate_exps.bias 16 4\n"
                        "ffn_down_exps.bias 8 4\n");
    }
  return g_string_free (text, FALSE);
}

char *
sketch_llama4 (void)
{
  GString *text = g_string_new (NULL);

  begin (text, "llama4", 4);
  g_string_append (text, "u32 expert_count 4\nu32 expert_used_count 1\n"
                         "u32 expert_feed_forward_length 16\nu32 interleave_moe_layer_step 2\n");
  for (guint il = 0; il < 4; il++)
    {
      sketch_add_layer (text, il, attention);
      sketch_add_layer (text, il, il % 2 == 0 ? net : experts);
      if (il % 2 == 1)
        sketch_add_layer (text, il,
                          "ffn_norm.weight 8\nffn_gate_shexp.weight 8 16\n"
                          "ffn_up_shexp.weight 8 16\nffn_down_shexp.weight 16 8\n");
    }
  return g_string_free (text, FALSE);
}
