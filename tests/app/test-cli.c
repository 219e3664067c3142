/* Exit statuses, messages and outputs of kvasir-cli that goldens do not show. */
#include <glib/gstdio.h>
#include <jansson.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/app/cli-runner.h"
#include "tests/app/trace-compare.h"

#define HEADER "{\"kvasir-scenario\":1,\"model\":\"tiny-llama.gguf\"}\n"

static char *
write_scenario (const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *dir = g_dir_make_tmp ("kvasir-cli-XXXXXX", &error);
  char *path;

  g_assert_no_error (error);
  path = g_build_filename (dir, "s.jsonl", NULL);
  g_file_set_contents (path, text, -1, &error);
  g_assert_no_error (error);
  return path;
}

static void
delete_scenario (char *path)
{
  g_autofree char *dir = g_path_get_dirname (path);
  g_unlink (path);
  g_rmdir (dir);
  g_free (path);
}

static CliResult
run_text (const char *text)
{
  g_autofree char *models = cli_data_path ("models");
  char *path = write_scenario (text);
  CliResult result = cli_run ("run", "--models", models, path, NULL);

  delete_scenario (path);
  return result;
}

/* ---- wrong scenarios */

typedef struct
{
  const char *name;
  const char *text;
  int status;
  const char *message; /* part of stderr; %s:LINE: MEMBER: ... */
} Wrong;

static const Wrong wrong_files[] = {
  { "empty", "", 2, "s.jsonl:1: a header expected" },
  { "not-json", "{\"kvasir-scenario\":1,\n", 2, "s.jsonl:1: column" },
  { "no-object", "[1]\n", 2, "s.jsonl:1: a JSON object expected, a list found" },
  { "version", "{\"kvasir-scenario\":2,\"model\":\"m\"}\n", 2, "s.jsonl:1: kvasir-scenario: " },
  { "no-model", "{\"kvasir-scenario\":1}\n", 2,
    "s.jsonl:1: model: the name of a file expected, nothing found" },
  { "header-member", "{\"kvasir-scenario\":1,\"model\":\"m\",\"x\":1}\n", 2,
    "s.jsonl:1: x: the header has no such member" },
  { "context-member", "{\"kvasir-scenario\":1,\"model\":\"m\",\"context\":{\"n_ctxx\":1}}\n", 2,
    "s.jsonl:1: n_ctxx: no such member" },
  { "context-value", "{\"kvasir-scenario\":1,\"model\":\"m\",\"context\":{\"n_seq_max\":257}}\n", 2,
    "s.jsonl:1: n_seq_max: a whole number from 1 to 256 expected, 257 found" },
  { "context-type", "{\"kvasir-scenario\":1,\"model\":\"m\",\"context\":{\"type_k\":\"q9\"}}\n", 2,
    "s.jsonl:1: type_k: f32, f16, bf16, q8_0, q4_0, q4_1, iq4_nl, q5_0 or q5_1 expected, \"q9\" "
    "found" },
  { "emit", "{\"kvasir-scenario\":1,\"model\":\"m\",\"emit\":{\"state\":1}}\n", 2,
    "s.jsonl:1: state: true or false expected, 1 found" },
  { "twice", HEADER "{\"op\":\"update\",\"op\":\"update\"}\n", 2, "s.jsonl:2: column" },
  { "unknown-operation", HEADER "\n# text\n{\"op\":\"fly\"}\n", 2,
    "s.jsonl:4: op: a known operation expected, \"fly\" found" },
  { "unknown-member", HEADER "{\"op\":\"update\",\"x\":1}\n", 2,
    "s.jsonl:2: x: update has no such member" },
  { "missing-member", HEADER "{\"op\":\"decode\"}\n", 2,
    "s.jsonl:2: tokens: decode needs this member" },
  { "member-type", HEADER "{\"op\":\"decode\",\"tokens\":7}\n", 2,
    "s.jsonl:2: tokens: a list of whole numbers expected, a whole number found" },
  { "token-type", HEADER "{\"op\":\"decode\",\"tokens\":[1.5]}\n", 2,
    "s.jsonl:2: tokens: a whole number expected, a number with a fraction found" },
  { "sequence-id", HEADER "{\"op\":\"seq_rm\",\"seq\":1}\n", 2,
    "s.jsonl:2: seq: -1 to 0 expected, 1 found" },
  { "positions", HEADER "{\"op\":\"decode\",\"tokens\":[1,2],\"pos\":[0]}\n", 2,
    "s.jsonl:2: pos: 2 positions expected, one per token, 1 found" },
  { "lists", HEADER "{\"op\":\"decode\",\"tokens\":[1,2],\"seq\":[[0]]}\n", 2,
    "s.jsonl:2: seq: 2 lists of sequence ids expected" },
  { "logits", HEADER "{\"op\":\"decode\",\"tokens\":[1],\"logits\":\"some\"}\n", 2,
    "s.jsonl:2: logits: " },
  { "divisor", HEADER "{\"op\":\"seq_div\",\"seq\":0,\"d\":0}\n", 2, "s.jsonl:2: d: 1 to" },
  { "expect", HEADER "{\"op\":\"update\",\"expect\":3}\n", 2, "s.jsonl:2: expect: an object" },
  { "clock", HEADER "{\"op\":\"template\",\"messages\":[],\"vars\":{\"now\":5}}\n", 2,
    "s.jsonl:2: vars: \"now\" as a text expected" },
  { "unsaved", HEADER "{\"op\":\"load\",\"from\":\"a\"}\n", 2,
    "s.jsonl:2: from: a name that was saved before expected, \"a\" found" },
  { "no-logits", HEADER "{\"op\":\"generate\",\"n\":1}\n", 2, "s.jsonl:2: seq: " },
  { "no-model-file", "{\"kvasir-scenario\":1,\"model\":\"none.gguf\"}\n", 3,
    "model \"none.gguf\" not found in " },
  { "transposed-quantised",
    "{\"kvasir-scenario\":1,\"model\":\"tiny-llama.gguf\",\"context\":{\"flash_attn\":false,"
    "\"type_v\":\"q8_0\"}}\n",
    3, "type_v: f32, f16 or bf16 expected with flash_attn false" },
  { "nul-in-model", "{\"kvasir-scenario\":1,\"model\":\"tiny-llama.gguf\\u0000x\"}\n", 2,
    "s.jsonl:1: model: " },
  { "nul-in-save", HEADER "{\"op\":\"save\",\"to\":\"a\\u0000b\"}\n", 2,
    "s.jsonl:2: to: a name without NUL expected" },
  { "nul-in-load", HEADER "{\"op\":\"load\",\"from\":\"a\\u0000b\"}\n", 2,
    "s.jsonl:2: from: a name without NUL expected" },
};

static void
test_wrong (gconstpointer data)
{
  const Wrong *wrong = data;
  g_auto (CliResult) result = run_text (wrong->text);

  g_test_message ("%s", result.err);
  g_assert_cmpint (result.status, ==, wrong->status);
  g_assert_cmpstr (result.out, ==, "");
  g_assert_nonnull (strstr (result.err, wrong->message));
}

/* A scenario that would never end is not waited for. */
static void
test_no_file (void)
{
  g_autofree char *dir = g_dir_make_tmp ("kvasir-cli-XXXXXX", NULL);
  g_autofree char *pipe = g_build_filename (dir, "pipe", NULL);
  const char *const paths[] = { pipe, dir, "/dev/zero" };

  g_assert_cmpint (mkfifo (pipe, 0600), ==, 0);
  for (guint i = 0; i < G_N_ELEMENTS (paths); i++)
    {
      g_auto (CliResult) result = cli_run ("run", paths[i], NULL);
      g_assert_cmpint (result.status, ==, 2);
      g_assert_nonnull (strstr (result.err, "a regular file expected, "));
    }
  g_unlink (pipe);
  g_rmdir (dir);
}

/* ---- expectations */

static void
test_expect_holds (void)
{
  g_auto (CliResult) result = run_text (
      HEADER "{\"op\":\"decode\",\"tokens\":[1,2],\"emit\":{\"state\":false,\"logits\":false},"
             "\"expect\":{\"ret\":0,\"state\":{\"seq\":[[0,0,1]]},\"ubatches\":[{\"tokens\":[0,1]}]"
             "}}\n");

  g_assert_cmpstr (result.err, ==, "");
  g_assert_cmpint (result.status, ==, 0);
  /* What is only expected is computed but not printed. */
  g_assert_cmpstr (result.out, ==, "{\"n\":0,\"op\":\"decode\",\"ret\":0}\n");
}

static void
test_expect_fails (void)
{
  g_auto (CliResult) result =
      run_text (HEADER "{\"op\":\"decode\",\"tokens\":[1,2],\"expect\":{\"state\":{\"seq\":[[0,0,2]"
                       "]}}}\n"
                       "{\"op\":\"update\",\"id\":\"last\"}\n");

  g_assert_cmpint (result.status, ==, 1);
  g_assert_nonnull (strstr (result.err, "s.jsonl:2: decode: state.seq[0][2]: expected 2, found 1"));
  /* The run goes on. */
  g_assert_nonnull (
      strstr (result.out, "{\"n\":1,\"op\":\"update\",\"id\":\"last\",\"ret\":false"));
}

static void
test_expect_tolerance (void)
{
  static const char format[] =
      HEADER "{\"op\":\"score\",\"tokens\":[1,2,3],\"emit\":{\"state\":false}}\n";
  g_auto (CliResult) first = run_text (format);
  json_t *out = trace_parse (first.out);
  const double score = json_number_value (json_object_get (json_array_get (out, 0), "ret"));
  const double offsets[] = { 0.0005, 0.02 };
  const int statuses[] = { 0, 1 };

  json_decref (out);
  g_assert_cmpfloat (score, >, 0);
  for (guint i = 0; i < G_N_ELEMENTS (offsets); i++)
    {
      char number[G_ASCII_DTOSTR_BUF_SIZE];
      g_autofree char *text =
          g_strdup_printf (HEADER "{\"op\":\"score\",\"tokens\":[1,2,3],\"expect\":{\"ret\":%s}}\n",
                           g_ascii_dtostr (number, sizeof number, score + offsets[i]));
      g_auto (CliResult) result = run_text (text);
      g_assert_cmpint (result.status, ==, statuses[i]);
    }
}

/* ---- operations */

static void
test_vocab_only (void)
{
  g_auto (CliResult) result =
      run_text ("{\"kvasir-scenario\":1,\"model\":\"tiny-llama.gguf\",\"vocab_only\":true}\n"
                "{\"op\":\"decode\",\"tokens\":[1]}\n"
                "{\"op\":\"detokenize\",\"tokens\":[]}\n");

  g_assert_cmpint (result.status, ==, 0);
  g_assert_cmpstr (result.out, ==,
                   "{\"n\":0,\"op\":\"decode\",\"ret\":\"unsupported\"}\n"
                   "{\"n\":1,\"op\":\"detokenize\",\"ret\":\"\"}\n");
}

static void
test_generate_lists_failed_id (void)
{
  g_auto (CliResult) result =
      run_text ("{\"kvasir-scenario\":1,\"model\":\"tiny-llama.gguf\",\"context\":{\"n_ctx\":256},"
                "\"emit\":{\"state\":false,\"logits\":false}}\n"
                "{\"op\":\"decode\",\"tokens\":[1,2,3]}\n"
                "{\"op\":\"generate\",\"n\":300}\n");
  json_t *out = trace_parse (result.out);
  gsize n = json_array_size (json_object_get (json_array_get (out, 1), "ret"));

  /* Three cells are taken, so 253 ids fit; the one that does not stays listed. */
  g_assert_cmpuint (n, ==, 254);
  json_decref (out);
}

static void
test_save_keeps_kinds_apart (void)
{
  g_auto (CliResult) result =
      run_text (HEADER "{\"op\":\"decode\",\"tokens\":[1,2,3]}\n"
                       "{\"op\":\"save\",\"to\":\"a\",\"seq\":0}\n"
                       "{\"op\":\"load\",\"from\":\"a\",\"expect\":{\"ret\":false}}\n"
                       "{\"op\":\"load\",\"from\":\"a\",\"seq\":0,\"partial\":true,"
                       "\"expect\":{\"ret\":false}}\n"
                       "{\"op\":\"load\",\"from\":\"a\",\"seq\":0,\"expect\":{\"ret\":true}}\n");

  g_assert_cmpstr (result.err, ==, "");
  g_assert_cmpint (result.status, ==, 0);
}

/* ---- the other commands */

/* A plain cache has nothing that a checkpoint would keep, and a checkpoint is no whole state. */
static void
test_partial_of_plain_cache (void)
{
  g_auto (CliResult) result =
      run_text (HEADER "{\"op\":\"decode\",\"tokens\":[1,2,3]}\n"
                       "{\"op\":\"save\",\"to\":\"a\",\"partial\":true,\"expect\":{\"ret\":0}}\n"
                       "{\"op\":\"load\",\"from\":\"a\",\"expect\":{\"ret\":false}}\n"
                       "{\"op\":\"load\",\"from\":\"a\",\"partial\":true,\"expect\":{\"ret\":true,"
                       "\"state\":{\"seq\":[[0,0,2]]}}}\n");

  g_assert_cmpstr (result.err, ==, "");
  g_assert_cmpint (result.status, ==, 0);
}

/* Encoders keep nothing between calls: every operation on sequences is refused by name, and rows
 * are pooled. */
static void
test_encoder (void)
{
  g_auto (CliResult) result = run_text (
      "{\"kvasir-scenario\":1,\"model\":\"tiny-bert.gguf\",\"emit\":{\"mask\":true}}\n"
      "{\"op\":\"decode\",\"tokens\":[20,21],\"expect\":{\"ret\":0,\"state\":{\"kind\":\"none\","
      "\"seq\":[],\"caches\":[]},\"mask\":[{\"full\":[[[0,2]],[[0,2]]]}]}}\n"
      "{\"op\":\"update\",\"expect\":{\"ret\":\"unsupported\"}}\n"
      "{\"op\":\"load\",\"from\":\"a\",\"expect\":{\"ret\":\"unsupported\"}}\n"
      "{\"op\":\"score\",\"tokens\":[1,2],\"expect\":{\"ret\":\"unsupported\"}}\n");

  g_assert_cmpstr (result.err, ==, "");
  g_assert_cmpint (result.status, ==, 0);
  g_assert_nonnull (strstr (result.out, "\"embd\":[["));
  g_assert_null (strstr (result.out, "\"logits\""));
}

/* Cells and slots of two streams, states beside cells, and what cannot be copied. */
static void
test_streams (void)
{
  g_auto (CliResult) result = run_text (
      "{\"kvasir-scenario\":1,\"model\":\"tiny-granitehybrid.gguf\",\"context\":{\"n_seq_max\":2,"
      "\"kv_unified\":false},\"emit\":{\"ubatches\":true}}\n"
      "{\"op\":\"decode\",\"tokens\":[20,21,22,23],\"seq\":[[0],[0],[1],[1]],\"expect\":{"
      "\"ubatches\":[{\"tokens\":[0,1,2,3],\"n_seq_tokens\":2,\"n_seqs\":2,\"n_kv\":{\"attn\":256},"
      "\"slots\":{\"attn\":[[0,[0,1]],[1,[0,1]]]}}]}}\n"
      "{\"op\":\"seq_cp\",\"src\":0,\"dst\":1,\"p0\":1,\"expect\":{\"ret\":\"unsupported\"}}\n"
      "{\"op\":\"seq_cp\",\"src\":0,\"dst\":1,\"expect\":{\"ret\":null}}\n");
  const char *streams = "\"streams\":[{\"head\":2,\"used\":2,\"runs\":[[0,2,0,[0],0]]},"
                        "{\"head\":2,\"used\":2,\"runs\":[[0,2,0,[1],0]]}]";

  g_assert_cmpstr (result.err, ==, "");
  g_assert_cmpint (result.status, ==, 0);
  g_assert_nonnull (strstr (result.out, streams));
  g_assert_nonnull (
      strstr (result.out, "{\"name\":\"recurrent\",\"n_swa\":0,\"size\":2,\"cells\":[["));
}

static void
test_help (void)
{
  g_auto (CliResult) all = cli_run ("--help", NULL);
  g_auto (CliResult) run = cli_run ("run", "--help", NULL);
  g_auto (CliResult) none = cli_run (NULL, NULL);
  g_auto (CliResult) wrong = cli_run ("fly", NULL);

  g_assert_cmpint (all.status, ==, 0);
  g_assert_nonnull (strstr (all.out, "plan"));
  g_assert_cmpint (run.status, ==, 0);
  g_assert_nonnull (strstr (run.out, "--models"));
  g_assert_cmpint (none.status, ==, 2);
  g_assert_cmpint (wrong.status, ==, 2);
  g_assert_nonnull (strstr (wrong.err, "\"fly\" is no command"));
}

static void
test_bad_options (void)
{
  g_autofree char *model = cli_data_path ("models/tiny-llama.gguf");
  g_auto (CliResult) isa = cli_run ("bench", "--isa", "mmx", model, NULL);
  g_auto (CliResult) type = cli_run ("plan", "--type-k", "q9", model, NULL);
  g_auto (CliResult) bench_type = cli_run ("bench", "--type-v", "q9", model, NULL);
  g_auto (CliResult) none = cli_run ("plan", "--seqs", "0", model, NULL);
  g_auto (CliResult) file = cli_run ("info", NULL);
  g_auto (CliResult) missing = cli_run ("info", "/nowhere/x.gguf", NULL);

  g_assert_cmpint (isa.status, ==, 2);
  g_assert_nonnull (
      strstr (isa.err, "scalar, avx2, avx-vnni, avx512-vnni or amx expected, \"mmx\" found"));
  g_assert_cmpint (type.status, ==, 2);
  g_assert_cmpint (bench_type.status, ==, 2);
  g_assert_nonnull (strstr (bench_type.err, "--type-v: f32, f16, "));
  g_assert_cmpint (none.status, ==, 2);
  g_assert_nonnull (strstr (none.err, "--seqs: a number from 1 expected, 0 found"));
  g_assert_cmpint (file.status, ==, 2);
  g_assert_cmpint (missing.status, ==, 3);
  g_assert_nonnull (strstr (missing.err, "/nowhere/x.gguf"));
}

static void
test_info (void)
{
  g_autofree char *model = cli_data_path ("models/tiny-llama.gguf");
  g_auto (CliResult) result = cli_run ("info", "--json", model, NULL);
  json_t *out = json_loads (result.out, 0, NULL);

  g_assert_cmpint (result.status, ==, 0);
  g_assert_cmpint (json_integer_value (json_object_get (out, "n_ctx_train")), ==, 4096);
  g_assert_cmpint (json_integer_value (json_object_get (out, "kv_bytes_per_token_f16")), ==, 384);
  g_assert_cmpstr (json_string_value (json_object_get (out, "memory")), ==, "kv");
  g_assert_cmpuint (json_array_size (json_object_get (out, "tensors")), ==, 30);
  json_decref (out);
}

/* What a file says reaches the terminal without its control characters. */
static void
test_escapes (void)
{
  g_auto (CliResult) result = cli_run ("info", "/nowhere/\x1b[2J.gguf", NULL);

  g_assert_cmpint (result.status, ==, 3);
  g_assert_null (strchr (result.err, '\x1b'));
  g_assert_nonnull (strstr (result.err, "\\x1b[2J"));
}

static void
test_plan (void)
{
  g_autofree char *model = cli_data_path ("models/tiny-llama.gguf");
  g_auto (CliResult) result = cli_run ("plan", "--json", "--ctx", "1000", model, NULL);
  json_t *out = json_loads (result.out, 0, NULL);
  json_t *rows = json_object_get (out, "rows");
  json_int_t sum = 0, kv = 0;

  g_assert_cmpint (result.status, ==, 0);
  for (gsize i = 0; i < json_array_size (rows); i++)
    {
      json_t *row = json_array_get (rows, i);
      json_int_t n = json_integer_value (json_object_get (row, "bytes"));
      sum += n;
      if (g_str_has_prefix (json_string_value (json_object_get (row, "kind")), "KV"))
        kv += n;
    }
  g_assert_cmpint (json_integer_value (json_object_get (out, "n_ctx")), ==, 1024);
  g_assert_cmpint (kv, ==, 1024 * 384);
  g_assert_cmpint (json_integer_value (json_object_get (out, "need_bytes")), ==, sum);
  json_decref (out);
}

/* The small model has a tokenizer and a template, and says nothing of sense: what it says must be
 * text, the same each time, and end by itself. */
/* One cache of `info` or `plan`. */
static void
check_cache (const json_t *out, guint i, const char *name, int size, int n_swa, int n_bytes)
{
  const json_t *cache = json_array_get (json_object_get (out, "caches"), i);

  g_assert_cmpstr (json_string_value (json_object_get (cache, "name")), ==, name);
  g_assert_cmpint (json_integer_value (json_object_get (cache, "size")), ==, size);
  g_assert_cmpint (json_integer_value (json_object_get (cache, "n_swa")), ==, n_swa);
  g_assert_cmpint (json_integer_value (json_object_get (cache, "bytes_per_cell")), ==, n_bytes);
}

/* gemma3: one full layer and six that slide, K and V rows of 32 f16 each; a window of 32, physical
 * batches of 512. */
static void
test_plan_sliding (void)
{
  g_autofree char *model = cli_data_path ("models/tiny-gemma3.gguf");
  g_auto (CliResult) one = cli_run ("plan", "--json", "--seqs", "4", model, NULL);
  g_auto (CliResult) each = cli_run ("plan", "--json", "--seqs", "4", "--streams", model, NULL);
  g_auto (CliResult) full = cli_run ("plan", "--json", "--seqs", "4", "--swa-full", model, NULL);
  json_auto_t *unified = json_loads (one.out, 0, NULL);
  json_auto_t *streams = json_loads (each.out, 0, NULL);
  json_auto_t *as_full = json_loads (full.out, 0, NULL);

  g_assert_cmpstr (json_string_value (json_object_get (unified, "memory")), ==, "kv_iswa");
  check_cache (unified, 0, "base", 4096, 0, 128);
  check_cache (unified, 1, "swa", 768, 32, 768);
  check_cache (streams, 0, "base", 1024, 0, 128);
  check_cache (streams, 1, "swa", 768, 32, 768);
  g_assert_cmpint (json_integer_value (json_object_get (streams, "n_ctx_seq")), ==, 1024);
  check_cache (as_full, 1, "swa", 4096, 32, 768);
}

/* granitehybrid: three Mamba-2 layers, with states of 3 * (128 + 2 * 16) and 16 * 128 F32 values,
 * and one of attention. */
static void
test_info_states (void)
{
  g_autofree char *model = cli_data_path ("models/tiny-granitehybrid.gguf");
  g_auto (CliResult) json = cli_run ("info", "--json", model, NULL);
  g_auto (CliResult) text = cli_run ("info", model, NULL);
  json_auto_t *out = json_loads (json.out, 0, NULL);

  g_assert_cmpstr (json_string_value (json_object_get (out, "memory")), ==, "hybrid");
  check_cache (out, 0, "attn", 4096, 0, 128);
  check_cache (out, 1, "recurrent", 16, 0, 30336);
  g_assert_nonnull (strstr (text.out, "for each sequence, whatever its length"));
  /* Not those of its first layer, which does not attend. */
  g_assert_nonnull (strstr (text.out, "4 of 16, 2 for keys and values"));
}

static void
test_chat (void)
{
  g_autofree char *model = cli_data_path ("models/tiny-llama-tied.gguf");
  g_auto (CliResult) first = cli_run_input ("Hello\n\nAgain\n", "chat", "--ctx", "512",
                                            "--temperature", "0.5", "--seed", "3", model, NULL);
  g_auto (CliResult) second = cli_run_input ("Hello\n\nAgain\n", "chat", "--ctx", "512",
                                             "--temperature", "0.5", "--seed", "3", model, NULL);

  g_assert_cmpstr (first.out, !=, "");
  g_assert_true (g_utf8_validate (first.out, -1, NULL));
  g_assert_cmpstr (first.out, ==, second.out);
  g_assert_cmpint (first.status, ==, second.status);
}

/* Nothing can be guessed of an encoder, which writes no text. */
static void
test_draft_encoder (void)
{
  g_autofree char *model = cli_data_path ("models/tiny-bert.gguf");
  g_auto (CliResult) result = cli_run ("bench", "--draft", "lookup", "--decode", "8", model, NULL);

  g_assert_cmpint (result.status, ==, 3);
  g_assert_nonnull (strstr (result.err, "a model that writes text expected"));
}

/* As many cells as the model was trained with, by the same number in both. */
static void
test_plan_as_trained (void)
{
  g_autofree char *model = cli_data_path ("models/tiny-llama4.gguf");
  g_auto (CliResult) info = cli_run ("info", "--json", model, NULL);
  g_auto (CliResult) plan = cli_run ("plan", "--json", "--ctx", "0", model, NULL);
  json_t *said = json_loads (info.out, 0, NULL), *planned = json_loads (plan.out, 0, NULL);
  const json_int_t n_train = json_integer_value (json_object_get (said, "n_ctx_train"));

  g_assert_cmpint (n_train, !=, 4096);
  g_assert_cmpint (json_integer_value (json_object_get (planned, "n_ctx")), ==, n_train);
  json_decref (said);
  json_decref (planned);
}

static void
test_draft (void)
{
  g_autofree char *model = cli_data_path ("models/tiny-llama-tied.gguf");
  g_autofree char *other = cli_data_path ("models/tiny-gemma3.gguf");
  const char *say = "one two three one two three\n";
  g_auto (CliResult) plain =
      cli_run_input (say, "chat", "--temp", "0", "--predict", "60", model, NULL);
  g_auto (CliResult) lookup = cli_run_input (say, "chat", "--temp", "0", "--predict", "60",
                                             "--draft", "lookup", "--draft-always", model, NULL);
  g_auto (CliResult) itself =
      cli_run_input (say, "chat", "--temp", "0", "--predict", "60", "--draft-model", model,
                     "--draft-max", "2", "--draft-always", model, NULL);
  g_auto (CliResult) refused = cli_run_input (say, "chat", "--draft-model", other, model, NULL);
  g_auto (CliResult) wrong = cli_run ("chat", "--draft", "luck", model, NULL);
  g_auto (CliResult) both =
      cli_run ("bench", "--draft", "lookup", "--draft-model", model, model, NULL);
  g_auto (CliResult) wide =
      cli_run ("bench", "--draft", "lookup", "--draft-max", "99", model, NULL);
  g_auto (CliResult) bench =
      cli_run ("bench", "--draft", "lookup", "--decode", "20", "--json", model, NULL);

  g_assert_cmpint (plain.status, ==, 0);
  g_assert_null (strstr (plain.err, "drafted"));
  g_assert_cmpstr (lookup.out, ==, plain.out);
  g_assert_nonnull (strstr (lookup.err, "(drafted "));
  g_assert_cmpstr (itself.out, ==, plain.out);
  g_assert_nonnull (strstr (itself.err, "(100 %))"));
  g_assert_cmpint (refused.status, ==, 3);
  g_assert_nonnull (strstr (refused.err, "another vocabulary"));
  g_assert_cmpint (wrong.status, ==, 2);
  g_assert_cmpint (both.status, ==, 2);
  g_assert_cmpint (wide.status, ==, 2);
  g_assert_cmpint (bench.status, ==, 0);
  g_assert_nonnull (strstr (bench.out, "\"same\":true"));
}

static void
test_chat_without_model (void)
{
  g_auto (CliResult) result = cli_run ("chat", "/nowhere/x.gguf", NULL);

  g_assert_cmpint (result.status, ==, 3);
  g_assert_nonnull (strstr (result.err, "/nowhere/x.gguf"));
}

/* Runs @script with the program as $0 and a model as $1; gives its exit status. */
static int
run_shell (const char *script, char **out, char **err)
{
  g_autofree char *model = cli_data_path ("models/tiny-llama.gguf");
  g_autoptr (GError) error = NULL;
  const char *argv[] = { "sh", "-c", script, g_getenv ("KVASIR_CLI"), model, NULL };
  int status = 0;

  g_spawn_sync (NULL, (char **) argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, out, err, &status,
                &error);
  g_assert_no_error (error);
  g_assert_true (WIFEXITED (status));
  return WEXITSTATUS (status);
}

static void
test_full_disk (void)
{
  static const char *const scripts[] = { "\"$0\" info \"$1\" > /dev/full",
                                         "\"$0\" plan \"$1\" > /dev/full",
                                         "\"$0\" --help > /dev/full" };

  for (guint i = 0; i < G_N_ELEMENTS (scripts); i++)
    {
      g_autofree char *err = NULL;
      g_assert_cmpint (run_shell (scripts[i], NULL, &err), ==, 3);
      g_assert_nonnull (strstr (err, "standard output: cannot be written"));
    }
}

static void
test_chat_input (void)
{
  g_autofree char *err = NULL, *out = NULL;

  g_assert_cmpint (run_shell ("\"$0\" chat --ctx 256 \"$1\" < /tmp", NULL, &err), ==, 3);
  g_assert_nonnull (strstr (err, "standard input: "));
  /* A line that begins with NUL is a message like any other, and gets an answer. */
  run_shell ("printf '\\0\\n' | \"$0\" chat --ctx 256 \"$1\"", &out, NULL);
  g_assert_cmpstr (out, !=, "");
}

/* Ctrl+C at the prompt ends a chat as Ctrl+D does. */
static void
test_chat_interrupted (void)
{
  g_autofree char *model = cli_data_path ("models/tiny-llama.gguf");
  const char *argv[] = { g_getenv ("KVASIR_CLI"), "chat", "--predict", "4", model, NULL };
  const GSpawnFlags flags = G_SPAWN_DO_NOT_REAP_CHILD;
  int in, out, err, status;
  char byte = 0;
  GPid pid;

  g_assert_true (g_spawn_async_with_pipes (NULL, (char **) argv, NULL, flags, NULL, NULL, &pid, &in,
                                           &out, &err, NULL));
  g_assert_cmpint (write (in, "Hello\n", 6), ==, 6);
  while (byte != '\n')
    g_assert_cmpint (read (out, &byte, 1), ==, 1);
  /* The prompt comes after the answer; nothing says when the program waits there. */
  do
    {
      g_usleep (100000);
      kill (pid, SIGINT);
    }
  while (waitpid (pid, &status, WNOHANG) == 0);
  g_assert_true (WIFEXITED (status));
  g_assert_cmpint (WEXITSTATUS (status), ==, 0);
  g_close (in, NULL);
  g_close (out, NULL);
  g_close (err, NULL);
}

/* A conversation or tools, @text, given to a chat that ends after it. */
static CliResult
chat_about (const char *option, const char *text, const char *more)
{
  g_autofree char *model = cli_data_path ("models/tiny-llama.gguf");
  g_autofree char *path = NULL;
  int fd = g_file_open_tmp ("kvasir-chat-XXXXXX.json", &path, NULL);
  CliResult result;

  g_assert_cmpint (fd, >=, 0);
  g_assert_true (g_close (fd, NULL) && g_file_set_contents (path, text, -1, NULL));
  result =
      cli_run_input ("", "chat", "--ctx", "512", "--predict", "8", option, path, model, more, NULL);
  g_unlink (path);
  return result;
}

static void
test_chat_messages (void)
{
  static const char parts[] =
      "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Hello\"}]}]";
  g_auto (CliResult) said =
      chat_about ("--messages", "[{\"role\":\"user\",\"content\":\"Hello\"}]", NULL);
  g_auto (CliResult) wrong = chat_about ("--messages", "[{\"role\":\"user\"}]", NULL);
  g_auto (CliResult) over =
      chat_about ("--messages", "[{\"role\":\"assistant\",\"content\":\"Hello\"}]", NULL);
  g_auto (CliResult) refused = chat_about ("--messages", parts, NULL);
  g_auto (CliResult) adapted = chat_about ("--messages", parts, "--adapt");
  g_autofree char *model = cli_data_path ("models/tiny-llama.gguf");
  g_auto (CliResult) typed =
      cli_run_input ("Hello\n", "chat", "--ctx", "512", "--predict", "8", model, NULL);

  g_assert_cmpint (said.status, ==, 0);
  g_assert_cmpstr (said.out, ==, typed.out);
  g_assert_cmpstr (said.out, !=, "");
  g_assert_cmpstr (over.out, ==, "");
  g_assert_cmpint (wrong.status, ==, 2);
  g_assert_nonnull (strstr (wrong.err, "messages[0].content: a text or a list of parts expected"));
  g_assert_cmpint (refused.status, ==, 3);
  g_assert_nonnull (strstr (refused.err, "chat template"));
  g_assert_cmpint (adapted.status, ==, 0);
  g_assert_cmpstr (adapted.out, ==, typed.out);
}

static void
test_chat_tools (void)
{
  g_autofree char *model = cli_data_path ("models/tiny-llama.gguf");
  g_auto (CliResult) wrong = chat_about ("--tools", "[7]", NULL);
  g_auto (CliResult) unknown = cli_run ("chat", "--thinking", "off", model, NULL);
  g_auto (CliResult) senseless = cli_run ("chat", "--thinking", "perhaps", model, NULL);

  g_assert_cmpint (wrong.status, ==, 2);
  g_assert_nonnull (strstr (wrong.err, "tools[0]: an object expected, a whole number found"));
  g_assert_cmpint (unknown.status, ==, 3);
  g_assert_nonnull (strstr (unknown.err, "knows no such switch"));
  g_assert_cmpint (senseless.status, ==, 2);
}

static void
test_numbers (void)
{
  static const char *const wrong[] = { "nan", "inf", "1e39", "-0.5", "11" };
  g_autofree char *model = cli_data_path ("models/tiny-llama.gguf");
  g_auto (CliResult) brief = cli_run ("bench", "--prefill=1", "--decode=1", model, NULL);

  g_assert_cmpint (brief.status, ==, 0);
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      g_auto (CliResult) result = cli_run ("chat", "--temperature", wrong[i], model, NULL);
      g_assert_cmpint (result.status, ==, 2);
      g_assert_nonnull (strstr (result.err, "--temperature: 0 to 10 expected"));
    }
}

/* A chain of few tokens that take turns, so that the answer is longer than its stop text. */
#define WORDY                                                                                      \
  "--temp", "0", "--logit-bias", "cell answer member sequence poet+1000", "--frequency-penalty",   \
      "50", "--predict", "12"

static void
test_answer_options (void)
{
  g_autofree char *model = cli_data_path ("models/tiny-llama-tied.gguf");
  g_auto (CliResult) all = cli_run_input ("Hello\n", "chat", "--ctx", "256", WORDY, model, NULL);
  g_auto (CliResult) cut = cli_run_input ("Hello\n", "chat", "--ctx", "256", WORDY, "--stop",
                                          "answer", "--stop", "poet", model, NULL);
  const char *answer = strstr (all.out, "answer");
  const char *poet = strstr (all.out, "poet");

  g_assert_cmpint (all.status, ==, 0);
  g_assert_nonnull (answer);
  g_assert_nonnull (poet);
  g_autofree char *expected =
      g_strdup_printf ("%.*s\n", (int) (MIN (answer, poet) - all.out), all.out);
  g_assert_cmpstr (cut.out, ==, expected);
}

/* By a text and by a file; the last one counts. */
static void
test_forms (void)
{
  static const char schema[] = "{\"type\":\"integer\",\"minimum\":40,\"maximum\":49}";
  g_autofree char *model = cli_data_path ("models/tiny-llama-tied.gguf");
  g_autofree char *path = NULL;
  gint fd = g_file_open_tmp ("kvasir-XXXXXX.json", &path, NULL);
  g_assert_cmpint (fd, >=, 0);
  g_close (fd, NULL);
  g_assert_true (g_file_set_contents (path, schema, -1, NULL));
  g_auto (CliResult) words = cli_run_input ("Hello\n", "chat", "--ctx", "256", "--grammar",
                                            "root ::= \"so be it\"", model, NULL);
  g_auto (CliResult) number =
      cli_run_input ("Hello\n", "chat", "--ctx", "256", "--grammar", "root ::= \"no\"",
                     "--json-schema-file", path, model, NULL);
  g_auto (CliResult) brief =
      cli_run_input ("Hello\n", "chat", "--ctx", "256", "-j", schema, model, NULL);
  g_auto (CliResult) none = cli_run_input ("Hello\n", "chat", "--ctx", "256", "--grammar",
                                           "root ::= <there is no such token>", model, NULL);
  g_unlink (path);
  g_assert_cmpstr (words.out, ==, "so be it\n");
  g_assert_true (g_regex_match_simple ("^4[0-9]\n$", number.out, 0, 0));
  g_assert_true (g_regex_match_simple ("^4[0-9]\n$", brief.out, 0, 0));
  g_assert_cmpint (none.status, ==, 3);
  g_assert_nonnull (strstr (none.err, "expected a text that is one token"));
}

/* A context that is too small for the first prompt, and one that is for the answer. */
static void
test_chat_tells_how_to_get_cells (void)
{
  g_autofree char *model = cli_data_path ("models/tiny-llama.gguf");
  g_autofree char *say = g_strnfill (2000, 'a');
  g_autofree char *line = g_strconcat (say, "\n", NULL);
  g_auto (CliResult) prompt = cli_run_input (line, "chat", "--ctx", "256", model, NULL);
  g_auto (CliResult) answer = cli_run_input ("Hello\n", "chat", "--ctx", "256", "--temp", "0",
                                             "--predict", "1000", model, NULL);

  g_assert_nonnull (strstr (prompt.err, "256 of 256 cells can be had; --ctx gives more"));
  g_assert_nonnull (strstr (answer.err, "rest of this answer; --ctx gives more"));
}

static void
test_wrong_answer_options (void)
{
  static const char *const wrong[][2] = {
    { "--logit-bias", "--logit-bias: a token and its bias" },
    { "--samplers", "--samplers: each at most once of" },
    { "--top-k", "--top-k: 0 to" },
    { "--mirostat", "--mirostat: 0 to 2 expected, 1.5 found" },
    { "--grammar", "Grammar, line 1, column 2: expected '::=', found '.'" },
    { "--json-schema", "Schema, at the top: a schema must be an object, true or false" },
    { "--grammar-file", "1.5" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      g_auto (CliResult) result = cli_run ("chat", wrong[i][0], "1.5", "none.gguf", NULL);
      g_assert_cmpint (result.status, ==, 2);
      g_assert_nonnull (strstr (result.err, wrong[i][1]));
    }
}

/* What never ends is not read to its end; a text in a pipe is one. */
static void
test_texts_from_files (void)
{
  static const char *const options[] = { "--grammar-file", "--json-schema-file", "--messages",
                                         "--tools" };
  g_autofree char *err = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (options); i++)
    {
      g_auto (CliResult) endless = cli_run ("chat", options[i], "/dev/zero", "none.gguf", NULL);
      g_auto (CliResult) folder = cli_run ("chat", options[i], "/", "none.gguf", NULL);
      g_assert_cmpint (endless.status, ==, 2);
      g_assert_nonnull (strstr (endless.err, "/dev/zero: a text of at most 64 MiB expected"));
      g_assert_cmpint (folder.status, ==, 2);
      g_assert_nonnull (strstr (folder.err, "/: cannot be read: "));
    }
  g_assert_cmpint (
      run_shell ("echo 'root ::= \"a\"' | \"$0\" chat --grammar-file /dev/stdin none", NULL, &err),
      ==, 3);
  g_assert_nonnull (strstr (err, "\"none\" not found in ., "));
  g_clear_pointer (&err, g_free);
  g_assert_cmpint (run_shell ("\"$0\" embed \"$1\" < /dev/zero", NULL, &err), ==, 2);
  g_assert_nonnull (strstr (err, "standard input: a text of at most 64 MiB expected"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (wrong_files); i++)
    {
      g_autofree char *path = g_strdup_printf ("/app/cli/run/refuses-%s", wrong_files[i].name);
      g_test_add_data_func (path, &wrong_files[i], test_wrong);
    }
  g_test_add_func ("/app/cli/run/only-files", test_no_file);
  g_test_add_func ("/app/cli/run/expect-holds", test_expect_holds);
  g_test_add_func ("/app/cli/run/expect-fails", test_expect_fails);
  g_test_add_func ("/app/cli/chat/tells-how-to-get-cells", test_chat_tells_how_to_get_cells);
  g_test_add_func ("/app/cli/run/expect-tolerance", test_expect_tolerance);
  g_test_add_func ("/app/cli/run/vocab-only", test_vocab_only);
  g_test_add_func ("/app/cli/run/generate-lists-failed-id", test_generate_lists_failed_id);
  g_test_add_func ("/app/cli/run/save-keeps-kinds-apart", test_save_keeps_kinds_apart);
  g_test_add_func ("/app/cli/run/partial-of-plain-cache", test_partial_of_plain_cache);
  g_test_add_func ("/app/cli/run/encoder", test_encoder);
  g_test_add_func ("/app/cli/run/streams-and-states", test_streams);
  g_test_add_func ("/app/cli/help", test_help);
  g_test_add_func ("/app/cli/bad-options", test_bad_options);
  g_test_add_func ("/app/cli/info", test_info);
  g_test_add_func ("/app/cli/escapes", test_escapes);
  g_test_add_func ("/app/cli/plan", test_plan);
  g_test_add_func ("/app/cli/plan-as-trained", test_plan_as_trained);
  g_test_add_func ("/app/cli/plan-sliding", test_plan_sliding);
  g_test_add_func ("/app/cli/info-states", test_info_states);
  g_test_add_func ("/app/cli/chat", test_chat);
  g_test_add_func ("/app/cli/draft", test_draft);
  g_test_add_func ("/app/cli/draft-of-encoder", test_draft_encoder);
  g_test_add_func ("/app/cli/chat-without-model", test_chat_without_model);
  g_test_add_func ("/app/cli/full-disk-is-no-success", test_full_disk);
  g_test_add_func ("/app/cli/chat-input", test_chat_input);
  g_test_add_func ("/app/cli/chat-interrupted", test_chat_interrupted);
  g_test_add_func ("/app/cli/chat-messages", test_chat_messages);
  g_test_add_func ("/app/cli/chat-tools", test_chat_tools);
  g_test_add_func ("/app/cli/numbers-out-of-range", test_numbers);
  g_test_add_func ("/app/cli/answer-options", test_answer_options);
  g_test_add_func ("/app/cli/forms-of-answers", test_forms);
  g_test_add_func ("/app/cli/texts-from-files", test_texts_from_files);
  g_test_add_func ("/app/cli/answer-options-that-are-none", test_wrong_answer_options);
  return g_test_run ();
}
