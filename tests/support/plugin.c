/* A library of the program's that does something when it is loaded, while the loader's lock is held. */
void plugin_is_loaded(void);

__attribute__((constructor)) static void load(void)
{
    plugin_is_loaded();
}
