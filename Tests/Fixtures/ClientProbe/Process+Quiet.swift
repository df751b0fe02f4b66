import Foundation
import Platform

extension Process {
    /// An expected crash leaves no core file.
    static func dieQuietly() {
        var limit = rlimit(rlim_cur: 0, rlim_max: 0)
        #if canImport(Glibc)
        setrlimit(__rlimit_resource_t(UInt32(RLIMIT_CORE.rawValue)), &limit)
        #else
        setrlimit(RLIMIT_CORE, &limit)
        #endif
    }
}
