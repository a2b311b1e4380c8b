# Opens numbered files as fast as it can and asks for a numbered name now and then, from a word on its input until it is
# ended: used by the engine's tests. The files lie deep, so that the programs in the kernel need long for each.
use strict;
use warnings;
use Fcntl;
use Socket;

my ($directory, $files) = @ARGV;
mkdir($directory);
chdir($directory) or die "$directory: $!";
for (1 .. 40) {
    mkdir('part');
    chdir('part') or die "part: $!";
}
for my $number (0 .. $files - 1) {
    sysopen(my $file, "no-$number", O_CREAT | O_RDWR) or die "no-$number: $!";
}
socket(my $udp, PF_INET, SOCK_DGRAM, 0) or die;
my $nobody = sockaddr_in(53, inet_aton('127.0.0.1'));

syswrite(STDOUT, "ready\n");
sysread(STDIN, my $word, 1);
for (my $turn = 0;; $turn++) {
    sysopen(my $file, 'no-' . $turn % $files, O_RDONLY) or die "no-$turn: $!";
    close($file);
    syswrite(STDOUT, "busy\n") if $turn == 500;
    next if $turn % 20;
    my $name = 'q' . $turn / 20;
    my $question = pack('n6', 1, 0x0100, 1, 0, 0, 0) . pack('C/a C/a C n n', $name, 'example', 0, 1, 1);
    send($udp, $question, 0, $nobody);
}
