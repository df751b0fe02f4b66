import TapeBytes
import Testing

@Suite struct BodyChecksumTests {
    /// The checksums of bodies of 0 to 300 bytes (`i * 7 % 251`), joined and hashed with SHA-256. The values are from Python's hashlib and
    /// zlib, and from a bitwise CRC. The range covers each length of padding.
    @Test(
        arguments: [
            (.md5, "80e1e9e39e2886b7a400e24302fc9c71301665f13dc6713a6c179b4977a5950e"),
            (.sha1, "9cb446ec537b66214bb9657f6ea384f55e6bb24c5398c0f57bbbed9e68c24e66"),
            (.sha256, "2d12949301a5e259e37efbe6cf3bde097eb2bffeaac8887131581a62d8e5a7a1"),
            (.sha384, "759613742d706abe71de32c626c158a69d3bc9372d04bbfbe34e7e9bcc28ff10"),
            (.sha512, "abb105d045f069916814e2a2288bf7fcb0563d1813cc09c6f40b4e4627b80a99"),
            (.crc32, "0227c2de9fdbe124bd4495fc1d6ac878b87c4147583df8ce9fb54b232547a147"),
            (.crc32c, "90ad9f24cf6bd53a1c681311286ef3a9806f5de1d854af2406513104e1037ab3"),
            (.crc64nvme, "1e83707b20b0b6e982d9df091fbc1fde54e01b6e900894106e0aa65839f4d08d"),
            (.crc64xz, "1371f0bf501b24a7e6106a0b3f0573a971d78c8fdcc375e8bfb5152869908713"),
            (.adler32, "8d4c27b0012583dec575fdcf126b873cd719887ff87af07e719e51eab9c43899"),
        ] as [(BodyChecksum, String)])
    func bodiesOfEveryLength(checksum: BodyChecksum, expected: String) {
        let all = (0...300).flatMap { count in checksum.value(of: (0..<count).map { UInt8($0 * 7 % 251) }) }
        #expect(Hex.encode(BodyChecksum.sha256.value(of: all)) == expected)
    }
}
