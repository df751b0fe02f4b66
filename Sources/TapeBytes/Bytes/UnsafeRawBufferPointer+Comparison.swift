internal import Platform

extension UnsafeRawBufferPointer {
    /// `elementsEqual` by memcmp.
    package func elementsEqualFast(_ other: UnsafeRawBufferPointer) -> Bool {
        guard self.count == other.count else { return false }
        guard let left = self.baseAddress, let right = other.baseAddress else { return true }
        return memcmp(left, right, self.count) == 0
    }
}
