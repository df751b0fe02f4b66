#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Finds a short text in octets.
public enum ByteSearch {
    public static func contains(_ needle: StaticString, in haystack: UnsafeRawBufferPointer) -> Bool {
        guard let base = haystack.baseAddress else { return false }
        return memmem(base, haystack.count, needle.utf8Start, needle.utf8CodeUnitCount) != nil
    }
}
