# What an intruder does inside a container: $1 its cgroup, $2 a port that listens, $3 a resolver.
echo $$ >"$1/cgroup.procs"
curl -s -o /dev/null "http://127.0.0.1:$2/"
su -s /bin/sh -c 'id >/dev/null; true' nobody
perl -e '$bad = "no module"; $none = "\0"; syscall(175, $bad, length($bad), $none);'
cat /etc/shadow >/dev/null
perl -MSocket -e 'socket(my $s, PF_INET, SOCK_DGRAM, 0); $q = pack("n6", 1, 256, 1, 0, 0, 0) . "\4evil\7example\0" . pack("n2", 1, 1);
send($s, $q, 0, sockaddr_in(53, inet_aton(shift))); recv($s, my $a, 512, 0);
socket(my $c, PF_INET, SOCK_STREAM, 0); connect($c, sockaddr_in(shift, "" . substr($a, -4)))' "$3" "$2"
sh -c 'id >/dev/null; true'
i=0
while [ $i -lt 40 ]; do
  (exit 3)
  i=$((i + 1))
done
exit 9
