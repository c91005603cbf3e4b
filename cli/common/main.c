/* The program of one command under its own name: CW_COMMAND is the function that does it. */
int CW_COMMAND(int argc, char **argv);

int main(int argc, char **argv)
{
    return CW_COMMAND(argc, argv);
}
