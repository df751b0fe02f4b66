/// Tells when so many connections have gone that their memory is worth giving back: allocators keep what was freed, for the next crowd.
struct TrimRule {
    /// Fewer than so many hold little, at some 50 KiB each in the middle of a TLS handshake.
    static let crowd = 500

    private var peak = 0

    /// - Parameter count: how many connections there are now.
    mutating func isDue(count: Int) -> Bool {
        self.peak = max(self.peak, count)
        guard self.peak >= Self.crowd, count <= self.peak / 4 else { return false }
        self.peak = count
        return true
    }
}
