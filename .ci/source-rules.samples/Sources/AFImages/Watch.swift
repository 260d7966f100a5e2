import Glibc

func watch() {
    _ = Glibc.open("/proc/pressure/memory", O_RDONLY)  // expect: system-call
}
