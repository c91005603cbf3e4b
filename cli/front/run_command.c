/* counterworks run: plan, capture and evaluate in one command. Each step is a command that it prints and runs. */
#define _GNU_SOURCE
#include "cli/front/run_command.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/file_name.h"
#include "base/text.h"
#include "cli/common/cli.h"
#include "cli/front/beside.h"
#include "cli/front/shell.h"

/* ---- another machine, by ssh ------------------------------------------------------------------------------------ */

/* The agent goes into a folder there that is removed in the end. */
struct node {
    const char *host;      /* as for ssh: user@host, or a name of its configuration */
    bool quiet;            /* prints no commands */
    char folder[PATH_MAX]; /* of the agent, there */
};

static const char agent[] = "capture-agent", library[] = "libcounterworks_inject.so";

/* Writes the beginning of a line that runs `command` there: "ssh HOST 'COMMAND'". `terminal`: as on this terminal, if
 * there is one, so that Ctrl-C reaches it. */
static void put_ssh(FILE *line, const struct node *node, const char *command, bool terminal)
{
    const char *ssh = getenv("COUNTERWORKS_SSH");
    fputs(ssh && *ssh ? ssh : "ssh", line);
    if (terminal && isatty(STDIN_FILENO))
        fputs(" -t", line);
    cw_shell_put(line, node->host);
    cw_shell_put(line, command);
}

/* Stores where a file lies beside this program, or in the folder of its installation. */
static bool find_beside(const char *name, char folder[PATH_MAX])
{
    static const char *const places[] = {"", "/../lib/counterworks"};
    char own[PATH_MAX], path[2 * PATH_MAX];
    cw_front_folder(own, sizeof own);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(folder, PATH_MAX, "%.4000s%s", own, places[i]);
        snprintf(path, sizeof path, "%s/%s", folder, name);
        if (access(path, R_OK) == 0)
            return true;
    }
    return false;
}

/* tar -cf - -C FOLDER capture-agent -C FOLDER libcounterworks_inject.so | ssh HOST '...' */
static enum cw_status put_copy(FILE *line, const struct node *node, struct cw_error *err)
{
    const char *const names[] = {agent, library};
    char folder[PATH_MAX];
    fputs("tar -chf -", line);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!find_beside(names[i], folder))
            return cw_error_set(err, CW_ERR_UNSUPPORTED, "found no %s beside this program, expected it there for %s",
                                names[i], node->host);
        fputs(" -C", line);
        cw_shell_put(line, folder);
        cw_shell_put(line, names[i]);
    }
    fputs(" | ", line);
    put_ssh(line, node, "d=$(mktemp -d) && mkdir \"$d\"/captures && tar -xf - -C \"$d\" && echo \"$d\"", false);
    return CW_OK;
}

/* Copies the agent and its library to the node. The command for ssh is COUNTERWORKS_SSH, or "ssh". */
static enum cw_status open_node(struct node *node, const char *host, bool quiet, struct cw_error *err)
{
    char *line = NULL;
    size_t size;
    FILE *out = open_memstream(&line, &size);
    *node = (struct node){.host = host, .quiet = quiet};
    if (!out)
        return cw_error_nomem(err);
    enum cw_status status = put_copy(out, node, err);
    if (fclose(out))
        status = status == CW_OK ? cw_error_nomem(err) : status;
    if (status == CW_OK && (cw_shell_ask(line, quiet, node->folder, sizeof node->folder) || *node->folder != '/')) {
        *node->folder = '\0';
        status = cw_error_set(err, CW_ERR_IO, "cannot copy the agent to %s: the reason stands above", host);
    }
    free(line);
    return status;
}

/* Removes the folder. */
static void close_node(struct node *node)
{
    char *line = NULL, command[PATH_MAX + 16];
    size_t size;
    FILE *out = *node->folder ? open_memstream(&line, &size) : NULL;
    if (!out)
        return;
    snprintf(command, sizeof command, "rm -r '%s'", node->folder);
    put_ssh(out, node, command, false);
    if (fclose(out) == 0)
        cw_shell_run(line, node->quiet);
    free(line);
    *node->folder = '\0';
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

enum { LISTS_MAX = 64 };

struct options {
    const char *metrics[LISTS_MAX], *sets[LISTS_MAX];
    size_t metric_count, set_count;
    const char *chip, *output, *on;
    const char *periods; /* --steady */
    bool whole, trace, force, quiet;
    char *const *program;
};

/* A run: its files have one name and different suffixes. capture-agent makes the names of its files of a pattern. */
struct run {
    const struct options *o;
    char *name;            /* of plan and page, without a suffix */
    char *pattern, *found; /* of the captures: for the agent, and for glob(3) */
    struct node node;      /* without a host: this machine */
    char *line;            /* the step that is being written */
    size_t line_size;
    FILE *out;
};

/* ---- names ------------------------------------------------------------------------------------------------------ */

static const char facts_suffix[] = ".node.json", plan_suffix[] = ".cwc", capture_suffix[] = ".cwd",
                  page_suffix[] = ".html";

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* "train" for "python3 -u train.py", "app" for "./app": a script gives the name, or else the program. */
static const char *name_giver(char *const *program)
{
    static const char *const scripts[] = {".py", ".sh", ".jl", ".lua", ".pl"};
    for (char *const *word = program; *word; word++) {
        const char *suffix = strrchr(base_name(*word), '.');
        for (size_t i = 0; suffix && **word != '-' && i < sizeof scripts / sizeof *scripts; i++)
            if (strcmp(suffix, scripts[i]) == 0)
                return base_name(*word);
    }
    return base_name(*program);
}

/* The pattern of all names, without a suffix. The name of a program is no pattern. */
static char *make_pattern(const struct options *o)
{
    char *pattern = o->output ? strdup(o->output) : cw_file_name_literal(name_giver(o->program));
    char *name = pattern ? (char *)(uintptr_t)base_name(pattern) : NULL;
    const char *variable = name ? strrchr(name, '}') : NULL; /* the end of %q{NAME}, which may have a dot */
    char *suffix = name ? strrchr(variable ? variable : name, '.') : NULL;
    if (suffix && suffix != name && !(o->output && strchr(suffix, '%')))
        *suffix = 0;
    return pattern;
}

/* Plan and page are of all processes, and have this one's number in place of theirs. */
static enum cw_status name_files(struct run *r, struct cw_error *err)
{
    const struct cw_file_name_parts own = {.process = (uint32_t)getpid()};
    char *pattern = make_pattern(r->o);
    enum cw_status status = pattern ? cw_file_name(&r->name, pattern, &own, err) : cw_error_nomem(err);
    if (status == CW_OK && asprintf(&r->pattern, "%s%s", pattern, capture_suffix) < 0)
        status = cw_error_nomem(err);
    if (status == CW_OK)
        status = cw_file_name_glob(&r->found, r->pattern, r->o->on, err);
    free(pattern);
    return status;
}

/* ---- lines ------------------------------------------------------------------------------------------------------ */

static bool begin(struct run *r, const char *words)
{
    r->out = open_memstream(&r->line, &r->line_size);
    if (r->out)
        fputs(words, r->out);
    return r->out;
}

static void put_option(struct run *r, const char *option, const char *value)
{
    cw_shell_put(r->out, option);
    cw_shell_put(r->out, value);
}

/* Adds a path, which is no option. */
static void put_path(struct run *r, const char *folder, const char *name, const char *suffix)
{
    char *path = NULL;
    if (asprintf(&path, "%s%s%s", !*folder && *name == '-' ? "./" : folder, name, suffix) > 0)
        cw_shell_put(r->out, path);
    free(path);
}

/* Adds a file of the run: its name with a suffix. */
static void put_file(struct run *r, const char *before, const char *suffix)
{
    fputs(before, r->out);
    put_path(r, "", r->name, suffix);
}

static void put_selection(struct run *r)
{
    const struct options *o = r->o;
    for (size_t i = 0; i < o->metric_count; i++)
        put_option(r, "-m", o->metrics[i]);
    for (size_t i = 0; i < o->set_count; i++)
        put_option(r, "--set", o->sets[i]);
}

static bool has_selection(const struct options *o)
{
    return o->metric_count || o->set_count;
}

/* Runs the line that is complete. Returns its exit status. */
static int run_line(struct run *r)
{
    const int status = fclose(r->out) ? CW_ERR_NOMEM : cw_shell_run(r->line, r->o->quiet);
    free(r->line);
    r->line = NULL;
    return status;
}

/* Makes a line that runs the written one on the node, in the folder of the same path if that is there. */
static bool move_to_node(struct run *r)
{
    char folder[PATH_MAX], *there = NULL, *command = NULL;
    size_t size;
    bool good = fclose(r->out) == 0;
    FILE *out = good ? open_memstream(&command, &size) : NULL;
    there = r->line;
    r->line = NULL;
    if (out) {
        fputs("cd", out);
        cw_shell_put(out, getcwd(folder, sizeof folder) ? folder : ".");
        fprintf(out, " 2>/dev/null; %s", there);
        good = fclose(out) == 0 && begin(r, "");
    }
    if (out && good)
        put_ssh(r->out, &r->node, command, true);
    free(there);
    free(command);
    return out && good;
}

/* ---- steps ------------------------------------------------------------------------------------------------------ */

static bool is_remote(const struct run *r)
{
    return r->node.host;
}

static bool is_simulated(void)
{
    const char *backend = getenv("COUNTERWORKS_BACKEND");
    return backend && strcmp(backend, "sim") == 0;
}

/* The chip to plan for; NULL: that of the node's GPUs. */
static const char *chip_of(const struct run *r)
{
    return r->o->chip ? r->o->chip : is_simulated() ? "GH100" : NULL;
}

/* The description of the node's GPUs, of which the plan takes the chip. */
static int describe_node(struct run *r)
{
    char command[PATH_MAX + 64];
    if (!begin(r, is_remote(r) ? "" : "counterworks doctor -q --facts"))
        return CW_ERR_NOMEM;
    if (is_remote(r)) {
        snprintf(command, sizeof command, "%s/capture-agent doctor -q --facts -", r->node.folder);
        put_ssh(r->out, &r->node, command, false);
        fputs(" >", r->out);
    }
    put_file(r, "", facts_suffix);
    return run_line(r);
}

static int plan(struct run *r)
{
    const struct options *o = r->o;
    if (!begin(r, "counterworks plan -q"))
        return CW_ERR_NOMEM;
    if (chip_of(r))
        put_option(r, "--chip", chip_of(r));
    else
        put_file(r, " --device-facts", facts_suffix);
    if (has_selection(o))
        put_selection(r);
    else
        fputs(" --for-advice", r->out);
    put_file(r, " -o", plan_suffix);
    return run_line(r);
}

/* Copies the plan to the agent's folder on the node. */
static int bring_plan(struct run *r)
{
    char command[PATH_MAX + 64];
    if (!begin(r, ""))
        return CW_ERR_NOMEM;
    snprintf(command, sizeof command, "cat >%s/run%s", r->node.folder, plan_suffix);
    put_ssh(r->out, &r->node, command, false);
    put_file(r, " <", plan_suffix);
    return run_line(r);
}

/* Adds the agent's plan and captures. */
static void put_agent_files(struct run *r)
{
    char *folder = is_remote(r) ? cw_file_name_literal(r->node.folder) : NULL;
    if (!r->o->trace && is_remote(r))
        fprintf(r->out, " -c %s/run%s", r->node.folder, plan_suffix);
    else if (!r->o->trace)
        put_file(r, " -c", plan_suffix);
    fputs(" -o", r->out);
    if (folder)
        put_path(r, folder, "/captures/", base_name(r->pattern));
    else
        put_path(r, "", r->pattern, "");
    free(folder);
}

static int run_agent(struct run *r, bool steady)
{
    const struct options *o = r->o;
    if (!begin(r, is_remote(r) ? r->node.folder : "counterworks"))
        return CW_ERR_NOMEM;
    if (is_remote(r))
        fputs("/capture-agent", r->out);
    fputs(o->trace ? " trace" : is_remote(r) ? " range" : " capture", r->out);
    put_agent_files(r);
    if (steady)
        put_option(r, "--steady", o->periods ? o->periods : "2");
    if (o->force)
        fputs(" --force", r->out);
    fputs(" --", r->out);
    for (char *const *word = o->program; *word; word++)
        cw_shell_put(r->out, *word);
    if (is_remote(r) && !move_to_node(r))
        return CW_ERR_NOMEM;
    return run_line(r);
}

/* The steady state, or every launch of a program in which nothing repeats. */
static int capture(struct run *r)
{
    const bool steady = !r->o->whole && !is_simulated(); /* a simulated GPU has no steady state */
    const int status = run_agent(r, steady);
    if (!steady || status != CW_ERR_APP)
        return status;
    fputs("counterworks run: captured no period, so it runs the program once more and captures all of it\n", stderr);
    return run_agent(r, false);
}

static void put_captures(struct run *r, const glob_t *captures)
{
    for (size_t i = 0; i < captures->gl_pathc; i++)
        put_path(r, "", captures->gl_pathv[i], "");
}

static int print_kernels(struct run *r, const glob_t *captures)
{
    if (!begin(r, "counterworks table --top 20"))
        return CW_ERR_NOMEM;
    put_captures(r, captures);
    if (!r->o->trace && has_selection(r->o)) {
        fputs(" --by kernel", r->out);
        put_selection(r);
    }
    return run_line(r);
}

static int write_page(struct run *r, const glob_t *captures)
{
    if (!begin(r, "counterworks report -q"))
        return CW_ERR_NOMEM;
    put_captures(r, captures);
    put_file(r, " -o", page_suffix);
    return run_line(r);
}

/* ---- captures of another machine -------------------------------------------------------------------------------- */

/* The program there writes where it likes, so its folder may hold anything. All of it comes into a folder here, of
 * which captures alone move on, once all has come. */

static const char archive[] = "/captures.tar";

/* The length of the folder in the name of the run's files. */
static int folder_length(const struct run *r)
{
    return (int)(base_name(r->name) - r->name);
}

static int receive(struct run *r, const char *inbox)
{
    char command[PATH_MAX + 64];
    int status = begin(r, "") ? CW_OK : CW_ERR_NOMEM;
    if (status != CW_OK)
        return status;
    snprintf(command, sizeof command, "cd %s/captures && tar -cf - .", r->node.folder);
    put_ssh(r->out, &r->node, command, false);
    fputs(" >", r->out); /* no pipe, which would lose the status of ssh */
    put_path(r, "", inbox, archive);
    status = run_line(r);
    if (status != CW_OK || !begin(r, "tar -xm --no-same-owner --no-same-permissions -f - -C"))
        return status != CW_OK ? status : CW_ERR_NOMEM;
    put_path(r, "", inbox, "");
    fputs(" <", r->out); /* a name with a colon would be another machine's for -f */
    put_path(r, "", inbox, archive);
    status = run_line(r);
    return chmod(inbox, 0700) == 0 ? status : CW_ERR_IO; /* the archive has a mode for it */
}

/* Whether a capture may take the place of a file here, as for capture-agent. */
static enum cw_status check_place(const struct run *r, const char *path, struct cw_error *err)
{
    struct stat st;
    if (lstat(path, &st) == 0 && (stat(path, &st) != 0 || !S_ISREG(st.st_mode)))
        return cw_error_set(err, CW_ERR_USAGE, "%s: found no regular file, expected a capture to replace, or none",
                            path);
    return cw_file_may_replace(path, &cw_file_capture, r->o->force, err);
}

/* Writes through a link, as capture-agent does. */
static enum cw_status place(struct run *r, const char *inbox, const char *name, struct cw_error *err)
{
    char *path = NULL;
    if (asprintf(&path, "%.*s%s", folder_length(r), r->name, name) < 0)
        return cw_error_nomem(err);
    char *target = realpath(path, NULL);
    enum cw_status status = check_place(r, path, err);
    if (status == CW_OK && !begin(r, "mv -f --"))
        status = cw_error_nomem(err);
    if (status == CW_OK) {
        put_path(r, inbox, "/", name);
        put_path(r, "", target ? target : path, "");
        if (run_line(r) != 0)
            status = cw_error_set(err, CW_ERR_IO, "%s: cannot write: the reason stands above", path);
    }
    free(target);
    free(path);
    return status;
}

static enum cw_status place_all(struct run *r, const char *inbox, struct cw_error *err)
{
    DIR *folder = opendir(inbox);
    enum cw_status status = folder ? CW_OK : cw_file_cannot_open(inbox, errno, err);
    for (struct dirent *entry; status == CW_OK && (errno = 0, entry = readdir(folder));) {
        struct stat st;
        if (cw_file_name_fits(base_name(r->found), entry->d_name) &&
            fstatat(dirfd(folder), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode))
            status = place(r, inbox, entry->d_name, err);
    }
    if (status == CW_OK && errno)
        status = cw_file_cannot_open(inbox, errno, err);
    if (folder)
        closedir(folder);
    return status;
}

/* Folders may have come that are closed to their owner. */
static void remove_folder(struct run *r, const char *folder)
{
    static const char *const lines[] = {"rm -rf", "chmod -R u+rwx", "rm -rf"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines && begin(r, lines[i]); i++) {
        put_path(r, "", folder, "");
        if (run_line(r) == 0 && i == 0)
            break;
    }
}

/* Copies the captures of the agent's folder on the node to the folder of the run's files. */
static enum cw_status fetch_captures(struct run *r, struct cw_error *err)
{
    char *inbox = NULL;
    enum cw_status status;
    if (asprintf(&inbox, "%.*s.counterworks-XXXXXX", folder_length(r), r->name) < 0)
        return cw_error_nomem(err);
    if (!mkdtemp(inbox)) {
        status = cw_error_set(err, CW_ERR_IO, "%s: cannot make the folder: %s", inbox, strerror(errno));
    } else {
        if (receive(r, inbox) == 0)
            status = place_all(r, inbox, err);
        else
            status =
                cw_error_set(err, CW_ERR_IO, "cannot copy the captures from %s: the reason stands above", r->node.host);
        remove_folder(r, inbox);
    }
    free(inbox);
    return status;
}

/* The captures stay there if they cannot be copied. */
static enum cw_status bring_captures(struct run *r)
{
    struct cw_error err = CW_ERROR_INIT;
    const enum cw_status status = fetch_captures(r, &err);
    if (status == CW_OK)
        return status;
    cw_usage_fail(&err);
    cw_text_print(stderr, "counterworks run: the captures stay in %s/captures of %s\n", r->node.folder, r->node.host);
    *r->node.folder = '\0';
    return status;
}

/* ---- the command ------------------------------------------------------------------------------------------------ */

/* Files at one moment. */
struct files {
    glob_t names;
    struct stat *states; /* NULL without files, or memory */
};

static void look(const struct run *r, struct files *files)
{
    *files = (struct files){0};
    if (glob(r->found, GLOB_PERIOD, NULL, &files->names) == 0)
        files->states = calloc(files->names.gl_pathc, sizeof *files->states);
    for (size_t i = 0; files->states && i < files->names.gl_pathc; i++)
        stat(files->names.gl_pathv[i], &files->states[i]);
}

static void forget(struct files *files)
{
    globfree(&files->names);
    free(files->states);
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Leaves out the files that were there before, and files of other names that glob(3) found. */
static void keep_new(const struct run *r, struct files *files, const struct files *before)
{
    size_t kept = 0;
    for (size_t i = 0; files->states && i < files->names.gl_pathc; i++) {
        bool left_out = !cw_file_name_fits(base_name(r->found), base_name(files->names.gl_pathv[i]));
        for (size_t k = 0; before->states && k < before->names.gl_pathc && !left_out; k++)
            left_out = is_same(&files->states[i], &before->states[k]);
        if (left_out) {
            free(files->names.gl_pathv[i]);
            continue;
        }
        files->names.gl_pathv[kept++] = files->names.gl_pathv[i];
    }
    files->names.gl_pathc = kept;
}

static int make_plan(struct run *r)
{
    int status = chip_of(r) ? CW_OK : describe_node(r);
    if (status == CW_OK)
        status = plan(r);
    if (status == CW_OK && is_remote(r))
        status = bring_plan(r);
    return status;
}

/* A failed program may leave a capture, which is printed, too. */
static int capture_and_print(struct run *r, const struct files *before)
{
    struct files made;
    struct cw_error err = CW_ERROR_INIT;
    int status = capture(r), shown = CW_OK, written = CW_OK;
    if (is_remote(r) && status != CW_ERR_APP && status != CW_ERR_DEVICE) {
        const enum cw_status brought = bring_captures(r);
        if (brought != CW_OK)
            return status ? status : (int)brought;
    }
    look(r, &made);
    keep_new(r, &made, before);
    if (made.names.gl_pathc) {
        shown = print_kernels(r, &made.names);
        written = write_page(r, &made.names);
    } else if (status == CW_OK) {
        cw_error_set(&err, CW_ERR_APP, "found no new capture '%s', expected one of capture-agent", r->pattern);
        status = cw_usage_fail(&err);
    }
    forget(&made);
    return status ? status : shown ? shown : written;
}

static int run_steps(struct run *r)
{
    struct files before;
    int status = r->o->trace ? CW_OK : make_plan(r);
    if (status != CW_OK)
        return status;
    look(r, &before);
    status = capture_and_print(r, &before);
    forget(&before);
    return status;
}

static enum cw_status begin_on_node(struct run *r, struct cw_error *err)
{
    static const char scheme[] = "ssh:";
    const char *on = r->o->on;
    char *capture_path = NULL;
    if (!on)
        return CW_OK;
    if (asprintf(&capture_path, "%s%s", r->name, capture_suffix) < 0)
        return cw_error_nomem(err);
    const enum cw_status status = check_place(r, capture_path, err);
    free(capture_path);
    if (status != CW_OK)
        return status;
    return open_node(&r->node, on + (strncmp(on, scheme, sizeof scheme - 1) == 0 ? sizeof scheme - 1 : 0), r->o->quiet,
                     err);
}

/* N or "all", as capture-agent takes it. */
static bool is_number_of_periods(const char *text)
{
    return strcmp(text, "all") == 0 || (*text >= '1' && *text <= '9' && !text[strspn(text, "0123456789")]);
}

static void check_options(void *options, struct argp_state *state)
{
    const struct options *o = options;
    if (o->periods && !is_number_of_periods(o->periods))
        cw_usage_error(state, "found --steady %s, expected a number from 1 on, or all", o->periods);
    if (o->periods && o->whole)
        cw_usage_error(state, "found --steady and --whole, expected one of them");
    if (o->periods && is_simulated())
        cw_usage_error(state, "found --steady with the simulated GPU, expected a real one's launches");
    if (!o->program)
        cw_usage_error(state, "no program: give one after --");
    if (o->trace && (has_selection(o) || o->chip))
        cw_usage_error(state, "found --trace and --%s, expected one of them", o->chip ? "chip" : "metrics or --set");
    if (o->on && strncmp(o->on, "ssh:", 4) == 0 && !o->on[4])
        cw_usage_error(state, "found --on %s, expected ssh:HOST", o->on);
}

static const struct cw_option option_list[] = {
    {"metrics", 'm', "A,B,...", "count these metrics instead of the counters of advice; may be repeated",
     CW_OPTION_LIST(struct options, metrics, metric_count)},
    {"set", 0, "A,B,...", "count metric sets (\"counterworks sets\" lists them); may be repeated",
     CW_OPTION_LIST(struct options, sets, set_count)},
    {"trace", 0, NULL, "trace the program instead of counting", CW_OPTION_FLAG(struct options, trace)},
    {"output", 'o', "NAME.cwd",
     "the capture; plan and page have its name, too (default: the name of the program or script, in this folder); %p, "
     "%r, %h and %q{NAME} as for counterworks capture",
     CW_OPTION_TEXT(struct options, output)},
    {"steady", 0, "N|all",
     "capture N whole periods of the repeated work, such as steps of training, or all of them (default: 2). If nothing "
     "repeats, the program runs again, and all of it is captured",
     CW_OPTION_TEXT(struct options, periods)},
    {"whole", 0, NULL, "capture all of the program instead of periods", CW_OPTION_FLAG(struct options, whole)},
    {"chip", 'c', "NAME", "plan for this chip instead of asking the node for its GPUs",
     CW_OPTION_TEXT(struct options, chip)},
    {"on", 0, "ssh:HOST",
     "capture on another machine: copies plan and agent there, runs the program in the folder of the same path, brings "
     "the capture back, and removes its folder there; COUNTERWORKS_SSH is the command for ssh",
     CW_OPTION_TEXT(struct options, on)},
    {CW_OPTION_GROUP(struct options, force, cw_cli_force_options)},
    {"quiet", 'q', NULL, "do not print the commands", CW_OPTION_FLAG(struct options, quiet)},
    {CW_OPTION_PROGRAM(struct options, program)},
    {CW_OPTION_CHECK(check_options)},
    {0},
};

int cw_front_run(int argc, char **argv)
{
    static const struct cw_usage usage = {
        option_list, "-- PROGRAM [ARGUMENT...]",
        "Plans for the node's GPU, captures two periods of the program's repeated work, prints its kernels with limit "
        "and first finding, and writes a page. Prints each step as a command. COUNTERWORKS_BACKEND=sim simulates a "
        "GPU.\v"
        "Example:\n  $0 -- python3 train.py\n  $0 --on ssh:node7 -- ./solver --steps 100"};
    struct options o = {0};
    struct cw_error err = CW_ERROR_INIT;
    cw_usage_read(&usage, argc, argv, &o);
    struct run r = {.o = &o};
    int status = (int)name_files(&r, &err);
    if (status == CW_OK)
        status = (int)begin_on_node(&r, &err);
    if (status == CW_OK)
        status = run_steps(&r);
    else
        cw_usage_fail(&err);
    if (is_remote(&r))
        close_node(&r.node);
    free(r.name);
    free(r.pattern);
    free(r.found);
    return status;
}
