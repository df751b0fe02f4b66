#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The process's standard streams.
enum StandardStreams {
    /// Opens the null device for those the parent has closed. Call before anything else opens a file: that would get their numbers,
    /// and a cassette with the number of standard error would get the messages for people.
    static func fill() {
        for stream in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(stream, F_GETFD) < 0 {
            // Takes the lowest free number, which is this one.
            _ = open("/dev/null", stream == STDIN_FILENO ? O_RDONLY : O_WRONLY)
        }
    }
}
