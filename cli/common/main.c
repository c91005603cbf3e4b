/* A program with one command; CW_COMMAND is its function. */
int CW_COMMAND(int argc, char **argv);

int main(int argc, char **argv)
{
    return CW_COMMAND(argc, argv);
}
