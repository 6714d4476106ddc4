/*
 * dump.c - prints what the decoder understood of every instruction of cubins, one a line, for against_nvdisasm.
 *
 * Line: section, offset, operation, then registers and constants that it reads or writes: R4, UR6, c[0x0][0x210].
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/sass/cubin.h"
#include "analysis/sass/instruction.h"

static void print_register(bool uniform, unsigned number)
{
    if (number == CS_RZ)
        printf(" %sZ", uniform ? "UR" : "R");
    else
        printf(" %s%u", uniform ? "UR" : "R", number);
}

static void print_operand(const struct cs_operand *operand)
{
    if (operand->kind == CS_OPERAND_REGISTER || operand->kind == CS_OPERAND_UNIFORM)
        print_register(operand->kind == CS_OPERAND_UNIFORM, operand->value);
    if (operand->kind == CS_OPERAND_CONSTANT && !operand->bindless)
        printf(" c[0x%x][0x%x]", operand->bank, operand->value);
    if (operand->kind == CS_OPERAND_CONSTANT && operand->bindless)
        printf(" cx[0x%x]", operand->value);
}

static void print_instruction(const char *section, size_t offset, const struct cs_instruction *in)
{
    printf("%s %zx %s", section, offset, in->opcode ? in->opcode->name : "?");
    if (in->count_most > 0)
        print_register(in->destination_uniform, in->destination);
    if (in->destination_more != CS_RZ)
        print_register(false, in->destination_more);
    print_operand(&in->a);
    if (in->uniform_address)
        print_register(true, in->uniform_register);
    print_operand(&in->b);
    print_operand(&in->c);
    if (in->jump)
        printf(" >%llx", (unsigned long long)(offset + CS_INSTRUCTION_BYTES + (size_t)in->jump));
    putchar('\n');
}

static int dump(const void *image, size_t size)
{
    struct cs_error error;
    struct cs_cubin *cubin;
    if (cs_cubin_open(image, size, &cubin, &error) != 0) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    const struct cs_family *family = cs_family(cubin->architecture);
    for (size_t i = 0; family && i < cubin->section_count; i++) {
        const struct cs_section *section = &cubin->sections[i];
        if (strncmp(section->name, ".text.", 6) != 0)
            continue;
        for (size_t at = 0; at + CS_INSTRUCTION_BYTES <= section->bytes.size; at += CS_INSTRUCTION_BYTES) {
            struct cs_instruction in;
            cs_decode(family, section->bytes.data + at, &in);
            print_instruction(section->name, at, &in);
        }
    }
    cs_cubin_close(cubin);
    return 0;
}

int main(int count, char **arguments)
{
    int status = count > 1 ? 0 : 2;
    for (int i = 1; i < count && status == 0; i++) {
        struct stat about;
        int file = open(arguments[i], O_RDONLY | O_CLOEXEC);
        void *image = MAP_FAILED;
        if (file >= 0 && fstat(file, &about) == 0)
            image = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        if (image == MAP_FAILED) {
            perror(arguments[i]);
            return 1;
        }
        status = dump(image, (size_t)about.st_size);
        munmap(image, (size_t)about.st_size);
        close(file);
    }
    return status;
}
