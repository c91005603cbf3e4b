#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/nvperf/library.h"

enum { MOST_DOMAINS = 256 };

struct cw_nvperf_scheduler {
    const struct cw_nvperf *library;
    char chip[64];
    uint8_t kind;
    size_t scd_count, domain_count;
    NVPW_RawCounterDomain scds[MOST_DOMAINS];
    struct cw_nvperf_domain domains[MOST_DOMAINS];
    NVPW_RawCounterConfig *open; /* one pass group over all domains, for enumeration and cw_nvperf_fits */
};

/* Requests, with memory for their names. */
struct requests {
    NVPW_RawCounterRequest *list;
    char (*names)[CW_NVPERF_NAME_SIZE];
};

static enum cw_status requests_init(struct requests *r, size_t count, struct cw_error *err)
{
    r->list = calloc(count + 1, sizeof *r->list);
    r->names = calloc(count + 1, sizeof *r->names);
    return r->list && r->names ? CW_OK : cw_error_nomem(err);
}

static void requests_free(struct requests *r)
{
    free(r->list);
    free(r->names);
}

static void requests_fill(struct requests *r, const struct cw_nvperf_placement *placements, size_t count)
{
    for (size_t i = 0; i < count; i++)
        r->list[i] = (NVPW_RawCounterRequest){.pRawCounterName = cw_nvperf_raw_name(placements[i].raw, r->names[i]),
                                              .domain = placements[i].domain};
}

static enum cw_status config_create(const struct cw_nvperf_scheduler *s, NVPW_RawCounterConfig **config,
                                    struct cw_error *err)
{
    CW_NVPERF_PARAMS(CUDA_RawCounterConfig_Create, p, .pChipName = s->chip, .activityKind = s->kind);
    CW_NVPERF_TRY(s->library, CUDA_RawCounterConfig_Create, p, err);
    *config = p.pRawCounterConfig;
    return CW_OK;
}

static void config_destroy(const struct cw_nvperf_scheduler *s, NVPW_RawCounterConfig *config)
{
    CW_NVPERF_PARAMS(RawCounterConfig_Destroy, p, .pRawCounterConfig = config);
    if (config)
        s->library->RawCounterConfig_Destroy(&p);
}

static enum cw_status group_begin(const struct cw_nvperf_scheduler *s, NVPW_RawCounterConfig *config,
                                  struct cw_error *err)
{
    CW_NVPERF_PARAMS(RawCounterConfig_BeginPassGroup, p, .pRawCounterConfig = config, .numDomains = s->scd_count,
                     .pDomains = s->scds);
    return CW_NVPERF_CALL(s->library, RawCounterConfig_BeginPassGroup, p, err);
}

/* Makes one pass group of the requests. */
static enum cw_status group_make(const struct cw_nvperf_scheduler *s, NVPW_RawCounterConfig *config,
                                 const struct requests *r, size_t count, struct cw_error *err)
{
    CW_NVPERF_PARAMS(RawCounterConfig_AddRawCounters, add, .pRawCounterConfig = config,
                     .rawCounterRequestStructSize = NVPW_RAW_COUNTER_REQUEST_STRUCT_SIZE,
                     .numRawCounterRequests = count, .pRawCounterRequests = r->list);
    CW_NVPERF_PARAMS(RawCounterConfig_EndPassGroup, end, .pRawCounterConfig = config, .numDomains = s->scd_count,
                     .pDomains = s->scds);
    CW_TRY(group_begin(s, config, err));
    CW_TRY(CW_NVPERF_CALL(s->library, RawCounterConfig_AddRawCounters, add, err));
    return CW_NVPERF_CALL(s->library, RawCounterConfig_EndPassGroup, end, err);
}

static enum cw_status pass_total(const struct cw_nvperf_scheduler *s, NVPW_RawCounterConfig *config, size_t *passes,
                                 struct cw_error *err)
{
    CW_NVPERF_PARAMS(RawCounterConfig_GetNumPasses, p, .pRawCounterConfig = config);
    CW_NVPERF_TRY(s->library, RawCounterConfig_GetNumPasses, p, err);
    *passes = p.numPasses;
    return CW_OK;
}

static enum cw_status domain_name(const struct cw_nvperf_scheduler *s, struct cw_nvperf_domain *d, struct cw_error *err)
{
    CW_NVPERF_PARAMS(RawCounterConfig_RawCounterDomainToString, p, .domain = d->id);
    CW_NVPERF_TRY(s->library, RawCounterConfig_RawCounterDomainToString, p, err);
    snprintf(d->name, sizeof d->name, "%s", p.pDomainName);
    return CW_OK;
}

static enum cw_status list_domains(struct cw_nvperf_scheduler *s, struct cw_error *err)
{
    CW_NVPERF_PARAMS(RawCounterConfig_GetAllAvailableRawCounterDomains, scds, .pRawCounterConfig = s->open,
                     .numAvailableDomains = MOST_DOMAINS / 2, .pAvailableDomains = s->scds);
    CW_NVPERF_TRY(s->library, RawCounterConfig_GetAllAvailableRawCounterDomains, scds, err);
    s->scd_count = scds.numAvailableDomains;
    CW_TRY(group_begin(s, s->open, err));
    for (size_t i = 0; i < s->scd_count; i++) {
        struct cw_nvperf_domain *d = &s->domains[s->domain_count++];
        d->id = (uint32_t)s->scds[i];
        CW_TRY(domain_name(s, d, err));
    }
    uint32_t groups[MOST_DOMAINS / 2];
    CW_NVPERF_PARAMS(RawCounterConfig_GetAllAvailableCooperativeDomainGroups, cdgs, .pRawCounterConfig = s->open,
                     .numAvailableDomains = MOST_DOMAINS / 2, .pAvailableDomains = groups);
    CW_NVPERF_TRY(s->library, RawCounterConfig_GetAllAvailableCooperativeDomainGroups, cdgs, err);
    for (size_t i = 0; i < cdgs.numAvailableDomains; i++) {
        struct cw_nvperf_domain *d = &s->domains[s->domain_count++];
        d->id = groups[i];
        d->cooperative = true;
        NVPW_RawCounterDomain members[8];
        CW_NVPERF_PARAMS(RawCounterConfig_CooperativeDomainGroup_GetMemberDomains, m, .pRawCounterConfig = s->open,
                         .domain = d->id, .numMemberDomains = sizeof members / sizeof *members,
                         .pMemberDomains = members);
        CW_NVPERF_TRY(s->library, RawCounterConfig_CooperativeDomainGroup_GetMemberDomains, m, err);
        d->member_count = (uint32_t)m.numMemberDomains;
        for (size_t k = 0; k < m.numMemberDomains; k++)
            d->members[k] = (uint32_t)members[k];
        CW_TRY(domain_name(s, d, err));
    }
    return CW_OK;
}

enum cw_status cw_nvperf_scheduler_create(struct cw_nvperf_scheduler **scheduler, const struct cw_nvperf *library,
                                          const char *chip, enum cw_nvperf_activity activity, struct cw_error *err)
{
    *scheduler = NULL;
    struct cw_nvperf_scheduler *s = calloc(1, sizeof *s);
    if (!s)
        return cw_error_nomem(err);
    s->library = library;
    snprintf(s->chip, sizeof s->chip, "%s", chip);
    s->kind = activity == CW_NVPERF_PROFILER ? NVPA_ACTIVITY_KIND_PROFILER : NVPA_ACTIVITY_KIND_REALTIME_SAMPLED;
    enum cw_status status = config_create(s, &s->open, err);
    if (status == CW_OK)
        status = list_domains(s, err);
    if (status != CW_OK) {
        cw_nvperf_scheduler_destroy(s);
        return status;
    }
    *scheduler = s;
    return CW_OK;
}

void cw_nvperf_scheduler_destroy(struct cw_nvperf_scheduler *s)
{
    if (!s)
        return;
    config_destroy(s, s->open);
    free(s);
}

const struct cw_nvperf_domain *cw_nvperf_domains(const struct cw_nvperf_scheduler *s, size_t *count)
{
    *count = s->domain_count;
    return s->domains;
}

enum cw_status cw_nvperf_domain_counters(const struct cw_nvperf_scheduler *s, uint32_t domain, uint64_t **raws,
                                         size_t *count, struct cw_error *err)
{
    *raws = NULL;
    *count = 0;
    CW_NVPERF_PARAMS(RawCounterConfig_GetNumRawCounters, total, .pRawCounterConfig = s->open, .domain = domain);
    CW_NVPERF_TRY(s->library, RawCounterConfig_GetNumRawCounters, total, err);
    uint64_t *list = calloc(total.numRawCounters + 1, sizeof *list);
    if (!list)
        return cw_error_nomem(err);
    enum cw_status status = CW_OK;
    size_t n = 0;
    for (size_t i = 0; status == CW_OK && i < total.numRawCounters; i++) {
        CW_NVPERF_PARAMS(RawCounterConfig_GetRawCounterName, name, .pRawCounterConfig = s->open, .domain = domain,
                         .rawCounterIndex = i);
        status = CW_NVPERF_CALL(s->library, RawCounterConfig_GetRawCounterName, name, err);
        if (status == CW_OK && !cw_nvperf_raw_number(name.pRawCounterName, &list[n]))
            status = cw_error_set(err, CW_ERR_UNSUPPORTED,
                                  "NVIDIA's host library names a raw counter %s, expected 0x...", name.pRawCounterName);
        n += status == CW_OK && list[n] != 0;
    }
    if (status != CW_OK) {
        free(list);
        return status;
    }
    *raws = list;
    *count = n;
    return CW_OK;
}

/* Makes a config of one pass group with all placements. */
static enum cw_status config_of(const struct cw_nvperf_scheduler *s, const struct requests *r, size_t count, bool merge,
                                NVPW_RawCounterConfig **config, struct cw_error *err)
{
    CW_TRY(config_create(s, config, err));
    CW_TRY(group_make(s, *config, r, count, err));
    if (merge) {
        CW_NVPERF_PARAMS(RawCounterConfig_MergePassGroups, p, .pRawCounterConfig = *config);
        CW_TRY(CW_NVPERF_CALL(s->library, RawCounterConfig_MergePassGroups, p, err));
    }
    return CW_OK;
}

enum cw_status cw_nvperf_pass_count(const struct cw_nvperf_scheduler *s, const struct cw_nvperf_placement *placements,
                                    size_t count, bool merge, size_t *passes, struct cw_error *err)
{
    struct requests r;
    NVPW_RawCounterConfig *config = NULL;
    enum cw_status status = requests_init(&r, count, err);
    if (status == CW_OK) {
        requests_fill(&r, placements, count);
        status = config_of(s, &r, count, merge, &config, err);
    }
    if (status == CW_OK)
        status = pass_total(s, config, passes, err);
    config_destroy(s, config);
    requests_free(&r);
    return status;
}

enum cw_status cw_nvperf_fits(struct cw_nvperf_scheduler *s, const struct cw_nvperf_placement *placements, size_t count,
                              bool *fits, struct cw_error *err)
{
    struct requests r;
    enum cw_status status = requests_init(&r, count, err);
    if (status == CW_OK) {
        requests_fill(&r, placements, count);
        CW_NVPERF_PARAMS(RawCounterConfig_AreRawCountersSchedulable, p, .pRawCounterConfig = s->open,
                         .rawCounterRequestStructSize = NVPW_RAW_COUNTER_REQUEST_STRUCT_SIZE,
                         .numRawCounterRequests = count, .pRawCounterRequests = r.list, .disallowAddingExtraPasses = 1);
        status = CW_NVPERF_CALL(s->library, RawCounterConfig_AreRawCountersSchedulable, p, err);
        *fits = p.schedulable;
    }
    requests_free(&r);
    return status;
}

/* Adds one pass group for each of our passes, so that the image has exactly our passes in our order. */
static enum cw_status add_passes(const struct cw_nvperf_scheduler *s, NVPW_RawCounterConfig *config,
                                 const struct cw_nvperf_placement *placements, const size_t *counts, size_t pass_count,
                                 struct requests *r, struct cw_error *err)
{
    for (size_t pass = 0; pass < pass_count; pass++) {
        size_t passes = 0;
        requests_fill(r, placements, counts[pass]);
        CW_TRY(group_make(s, config, r, counts[pass], err));
        CW_TRY(pass_total(s, config, &passes, err));
        if (passes != pass + 1)
            return cw_error_set(err, CW_ERR_UNSUPPORTED, "pass %zu of the plan takes NVIDIA's library %zu passes", pass,
                                passes - pass);
        placements += counts[pass];
    }
    return CW_OK;
}

static enum cw_status generate(const struct cw_nvperf_scheduler *s, NVPW_RawCounterConfig *config,
                               struct cw_writer *image, struct cw_error *err)
{
    CW_NVPERF_PARAMS(RawCounterConfig_GenerateConfigImage, generate_params, .pRawCounterConfig = config);
    CW_NVPERF_TRY(s->library, RawCounterConfig_GenerateConfigImage, generate_params, err);
    CW_NVPERF_PARAMS(RawCounterConfig_GetConfigImage, get, .pRawCounterConfig = config);
    CW_NVPERF_TRY(s->library, RawCounterConfig_GetConfigImage, get, err);
    uint8_t *bytes = malloc(get.bytesCopied + 1);
    if (!bytes)
        return cw_error_nomem(err);
    get.bytesAllocated = get.bytesCopied;
    get.pBuffer = bytes;
    enum cw_status status = CW_NVPERF_CALL(s->library, RawCounterConfig_GetConfigImage, get, err);
    if (status == CW_OK)
        cw_write_bytes(image, bytes, get.bytesCopied);
    free(bytes);
    return status == CW_OK ? image->status : status;
}

enum cw_status cw_nvperf_config_image(const struct cw_nvperf_scheduler *s, const struct cw_nvperf_placement *placements,
                                      const size_t *counts, size_t pass_count, struct cw_writer *image,
                                      struct cw_error *err)
{
    size_t most = 0;
    for (size_t i = 0; i < pass_count; i++)
        most = counts[i] > most ? counts[i] : most;
    struct requests r;
    NVPW_RawCounterConfig *config = NULL;
    enum cw_status status = requests_init(&r, most, err);
    if (status == CW_OK)
        status = config_create(s, &config, err);
    if (status == CW_OK)
        status = add_passes(s, config, placements, counts, pass_count, &r, err);
    if (status == CW_OK)
        status = generate(s, config, image, err);
    config_destroy(s, config);
    requests_free(&r);
    return status;
}

static enum cw_status find_passes(const struct cw_nvperf_scheduler *s, const struct requests *r, size_t count,
                                  const struct cw_writer *image, size_t passes, uint32_t *pass_of, struct cw_error *err)
{
    size_t *indices = malloc((passes + 1) * sizeof *indices);
    enum cw_status status = indices ? CW_OK : cw_error_nomem(err);
    for (size_t i = 0; status == CW_OK && i < count; i++) {
        CW_NVPERF_PARAMS(Config_GetRawCounterInfo, p, .pConfig = image->data, .configSize = image->size,
                         .pRawCounterName = r->list[i].pRawCounterName, .pPassIndices = indices,
                         .numPassIndices = passes);
        status = CW_NVPERF_CALL(s->library, Config_GetRawCounterInfo, p, err);
        if (status == CW_OK && (!p.numPassIndices || indices[0] >= passes))
            status = cw_error_set(err, CW_ERR_UNSUPPORTED, "NVIDIA's library names no pass for the raw counter %s",
                                  r->list[i].pRawCounterName);
        if (status == CW_OK)
            pass_of[i] = (uint32_t)indices[0];
    }
    free(indices);
    return status;
}

enum cw_status cw_nvperf_passes(const struct cw_nvperf_scheduler *s, const struct cw_nvperf_placement *placements,
                                size_t count, uint32_t *pass_of, size_t *passes, struct cw_error *err)
{
    struct requests r;
    struct cw_writer image;
    NVPW_RawCounterConfig *config = NULL;
    cw_writer_init(&image);
    enum cw_status status = requests_init(&r, count, err);
    if (status == CW_OK) {
        requests_fill(&r, placements, count);
        status = config_of(s, &r, count, true, &config, err);
    }
    if (status == CW_OK)
        status = generate(s, config, &image, err);
    if (status == CW_OK)
        status = pass_total(s, config, passes, err);
    if (status == CW_OK)
        status = find_passes(s, &r, count, &image, *passes, pass_of, err);
    config_destroy(s, config);
    requests_free(&r);
    cw_writer_free(&image);
    return status;
}
