internal import Platform

/// Finds a short text in octets.
public enum ByteSearch {
    public static func contains(_ needle: StaticString, in haystack: UnsafeRawBufferPointer) -> Bool {
        guard let base = haystack.baseAddress, needle.utf8CodeUnitCount > 0 else { return false }
        let end = base + haystack.count
        var start = base
        while end - start >= needle.utf8CodeUnitCount, let found = memchr(start, Int32(needle.utf8Start[0]), end - start) {
            let candidate = UnsafeRawPointer(found)
            if end - candidate >= needle.utf8CodeUnitCount, memcmp(candidate, needle.utf8Start, needle.utf8CodeUnitCount) == 0 {
                return true
            }
            start = candidate + 1
        }
        return false
    }
}
