int cw_part_first(int left);
int cw_part_second(int left);
