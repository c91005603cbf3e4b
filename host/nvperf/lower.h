/* Converts between our formats and NVIDIA's: a plan into NVIDIA's config image, NVIDIA's counter data into ours. */
#ifndef CW_NVPERF_LOWER_H
#define CW_NVPERF_LOWER_H

#include "host/nvperf/nvperf.h"
#include "image/config_image.h"
#include "image/counter_data.h"

/* Splits each pass of `plan` that the library would not collect as one, so that cw_nvperf_lower accepts the plan. New
 * passes come last and live in `arena`. *splits is the number of passes that were split. */
enum cw_status cw_nvperf_repair(const struct cw_nvperf *library, struct cw_config_image *plan, uint32_t *splits,
                                struct cw_arena *arena, struct cw_error *err);

/* Asks the library about passes of plans for one chip and profiler. */
struct cw_nvperf_prover;
enum cw_status cw_nvperf_prover_create(struct cw_nvperf_prover **prover, const struct cw_nvperf *library,
                                       const struct cw_config_image *plan, struct cw_error *err);
void cw_nvperf_prover_destroy(struct cw_nvperf_prover *prover);
/* Whether the library collects `pass` of `plan` as one. */
enum cw_status cw_nvperf_is_one_pass(const struct cw_nvperf_prover *prover, const struct cw_config_image *plan,
                                     const struct cw_config_pass *pass, bool *answer, struct cw_error *err);

/* Appends NVIDIA's config image, with exactly the passes of `plan`, to `native`. CW_ERR_UNSUPPORTED if the library
 * would split a pass. With a raw counter `beside` (0: none), every pass with room for it collects it, too. */
enum cw_status cw_nvperf_lower(const struct cw_nvperf *library, const struct cw_config_image *plan, uint64_t beside,
                               struct cw_writer *native, struct cw_error *err);

/* Decodes a native counter-data image into the counters of a schema. */
struct cw_nvperf_decoder;

/* `image` must outlive the decoder. `counters` names `count` counters; `chip` is the image's chip. */
enum cw_status cw_nvperf_decoder_create(struct cw_nvperf_decoder **decoder, const struct cw_nvperf *library,
                                        const char *chip, enum cw_nvperf_activity activity, const void *image,
                                        size_t size, const struct cw_schema_counter *counters, size_t count,
                                        struct cw_error *err);
void cw_nvperf_decoder_destroy(struct cw_nvperf_decoder *decoder);
size_t cw_nvperf_decoder_ranges(const struct cw_nvperf_decoder *decoder);
/* Sets values[c] for each counter of one range: rollups, or unavailable if the library gives NaN. */
enum cw_status cw_nvperf_decode_range(struct cw_nvperf_decoder *decoder, size_t range, struct cw_value *values,
                                      struct cw_error *err);
/* Sets facts[c] for each counter: instances and sustained peaks of the image's device. */
enum cw_status cw_nvperf_decode_facts(struct cw_nvperf_decoder *decoder, struct cw_device_facts *facts,
                                      struct cw_error *err);

#endif
