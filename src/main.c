/*
 * main.c - options that come before the command, locale, dispatch.
 */
#include "config.h"

int main(void)
{
	return 0;
}
