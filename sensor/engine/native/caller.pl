# Makes the system calls it is told to, one a line: its number and its arguments, each a number, `x` with the bytes in
# hexadecimal, `e` with bytes that are put where memory ends, or `f` with the path of a file to open, in hexadecimal too. It
# says its own number first, and ends with its input.
use strict;
use warnings;
use constant { READ => 0, MMAP => 9, MUNMAP => 11, PAGE => 4096 };

sub at_end {
    my ($bytes) = @_;
    my $at = syscall(MMAP, 0, 2 * PAGE, 3, 0x22, -1, 0);
    syscall(MUNMAP, $at + PAGE, PAGE);
    pipe(my $from, my $to) or die "pipe: $!";
    syswrite($to, $bytes);
    syscall(READ, fileno($from), $at + PAGE - length($bytes), length($bytes));
    return $at + PAGE - length($bytes);
}

$| = 1;
print "$$\n";
while (my $line = <STDIN>) {
    my ($number, @words) = split(' ', $line);
    my @files;
    my @arguments = map {
        my $word = $_;
        if ($word =~ /^x(.*)/) { pack('H*', $1) }
        elsif ($word =~ /^e(.*)/) { at_end(pack('H*', $1)) }
        elsif ($word =~ /^f(.*)/) {
            open(my $file, '<', pack('H*', $1)) or die "open: $!";
            push(@files, $file);
            fileno($file);
        }
        else { 0 + $word }
    } @words;
    syscall($number, @arguments);
}
