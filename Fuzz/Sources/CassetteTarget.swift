internal import CassetteFormat
internal import CassetteModel
internal import CassettePlayback
internal import CassetteRedaction
internal import CassetteStore
internal import Platform
internal import TapeBytes

/// The cassette reader: an input is a file; what can be read of it is written again and read as the same.
enum CassetteTarget: FuzzTarget {
    private static let path = "\(getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp")/wiretape-fuzz-\(getpid()).json"

    static func run(_ input: UnsafeRawBufferPointer) {
        self.interaction(Array(input))
        guard self.write(input), let reader = try? CassetteReader(path: self.path) else { return }
        for index in 0..<reader.count {
            guard let bytes = try? reader.bytes(at: index) else { fatalError("an interaction found cannot be read") }
            self.expect(bytes.first == UInt8(ascii: "{") && bytes.last == UInt8(ascii: "}"), "an interaction without its braces")
            self.interaction(bytes)
        }
        self.expect((try? reader.head()) != nil && (try? reader.tail()) != nil, "no head or tail of a cassette that was read")
    }

    private static func interaction(_ bytes: [UInt8]) {
        guard let first = try? InteractionDecoder.decode(bytes) else { return }
        var writer = JSONWriter()
        InteractionEncoder.encode(first, into: &writer)
        do {
            let second = try InteractionDecoder.decode(writer.bytes)
            var again = JSONWriter()
            InteractionEncoder.encode(second, into: &again)
            self.expect(again.bytes == writer.bytes, "written twice, an interaction differs")
        } catch {
            fatalError("\(error)")
        }
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
