# What an intruder does, in one run: used by the engine's tests. It moves itself into the cgroup it is given first.
use strict;
use warnings;
use Socket;

my ($cgroup, $watched, $port, $resolver, $raising) = @ARGV;
open(my $procs, '>', "$cgroup/cgroup.procs") or die "cgroup: $!";
syswrite($procs, $$);
close($procs);

system('/bin/sh', '-c', 'id >/dev/null; true');

socket(my $tcp, PF_INET, SOCK_STREAM, 0) or die;
connect($tcp, sockaddr_in($port, inet_aton('127.0.0.1'))) or die "connect: $!";
close($tcp);

open(my $file, '<', $watched) or die "watched: $!";
close($file);

# A question for the address of evil.example.
my $question = pack('n6', 0x4242, 0x0100, 1, 0, 0, 0) . "\x04evil\x07example\x00" . pack('n2', 1, 1);
socket(my $udp, PF_INET, SOCK_DGRAM, 0) or die;
send($udp, $question, 0, sockaddr_in(53, inet_aton($resolver))) or die "send: $!";
recv($udp, my $answer, 512, 0);
close($udp);

# init_module with bytes that are no module; bpf(BPF_PROG_LOAD) of two instructions that are none.
my $bad = 'no module at all';
my $none = "\0";
syscall(175, $bad, length($bad), $none);
my $code = "\0" x 16;
my $license = "GPL\0";
my $attributes = pack('LLQQLLQLLa16', 1, 2, unpack('Q', pack('P', $code)), unpack('Q', pack('P', $license)), 0, 0, 0, 0, 0, 'intruder');
syscall(321, 5, $attributes, length($attributes));

# A map of one entry; a program pinned that there is none of; a command that no kernel knows, and one that only looks.
my $map = pack('L7a16', 1, 4, 4, 1, 0, 0, 0, 'stolen');
syscall(321, 0, $map, length($map));
my $pinned = "/sys/fs/bpf/hidden\0";
my $pin = pack('QLL', unpack('Q', pack('P', $pinned)), 0x7fffffff, 0);
syscall(321, 6, $pin, length($pin));
syscall(321, 99, $pin, length($pin));
my $next = pack('L4', 0, 0, 0, 0);
syscall(321, 12, $next, length($next));

# ptrace(PTRACE_ATTACH) of a child.
my $child = fork();
if ($child == 0) { sleep(30); exit(0); }
syscall(101, 16, $child, 0, 0);
kill('KILL', $child);
waitpid($child, 0);

# Nobody runs a set-user-id program.
my $nobody = fork();
if ($nobody == 0) {
    syscall(106, 65534);
    syscall(105, 65534);
    open(STDOUT, '>', '/dev/null');
    exec($raising) or exit(1);
}
waitpid($nobody, 0);

# A fork storm.
for (1 .. 50) {
    my $one = fork();
    exit(0) if $one == 0;
    waitpid($one, 0);
}

# setgid, then setuid to nobody's number; nothing after it is allowed much.
syscall(106, 65534);
syscall(105, 65534);
exit(7);
