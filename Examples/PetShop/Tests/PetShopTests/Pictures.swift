import Foundation

/// Two pictures of some kilobytes: a PNG's signature, and octets that nothing compresses.
enum Pictures {
    static let face = picture(seed: 3, size: 5_000)
    static let bowl = picture(seed: 5, size: 20_000)

    private static func picture(seed: UInt64, size: Int) -> Data {
        var state = seed
        let noise = (0..<size).map { _ in
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return UInt8(truncatingIfNeeded: state >> 24)
        }
        return Data([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] + noise)
    }
}
