internal import CassetteFormat
internal import CassetteModel
internal import CassettePlayback
internal import CassetteRedaction
internal import CassetteStore
internal import Platform
internal import TapeBytes

/// The cassette reader: an input is a file; what can be read of it is written again and read as the same.
package enum CassetteTarget: FuzzTarget {
    private static let path = "\(getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp")/wiretape-fuzz-\(getpid()).json"

    package static func run(_ input: UnsafeRawBufferPointer) throws {
        try self.interaction(Array(input))
        defer { unlink(self.path) }
        guard self.write(input), let reader = try? CassetteReader(path: self.path) else { return }
        for index in 0..<reader.count {
            guard let bytes = try? reader.bytes(at: index) else { throw FuzzFinding("an interaction found cannot be read") }
            try self.expect(bytes.first == UInt8(ascii: "{") && bytes.last == UInt8(ascii: "}"), "an interaction without its braces")
            try self.interaction(bytes)
        }
        try self.expect((try? reader.head()) != nil && (try? reader.tail()) != nil, "no head or tail of a cassette that was read")
    }

    private static func interaction(_ bytes: [UInt8]) throws {
        guard let first = try? InteractionDecoder.decode(bytes, at: .textAlone) else { return }
        var writer = JSONWriter()
        InteractionEncoder.encode(first, into: &writer)
        let second = try InteractionDecoder.decode(writer.bytes, at: .textAlone)
        var again = JSONWriter()
        InteractionEncoder.encode(second, into: &again)
        try self.expect(again.bytes == writer.bytes, "written twice, an interaction differs")
    }

    private static func write(_ input: UnsafeRawBufferPointer) -> Bool {
        let file = open(self.path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        guard file >= 0 else { return false }
        defer { close(file) }
        return Self.put(file, input) == input.count
    }

    #if canImport(Darwin)
    private static func put(_ file: Int32, _ input: UnsafeRawBufferPointer) -> Int { Darwin.write(file, input.baseAddress, input.count) }
    #else
    private static func put(_ file: Int32, _ input: UnsafeRawBufferPointer) -> Int { Glibc.write(file, input.baseAddress, input.count) }
    #endif
}
