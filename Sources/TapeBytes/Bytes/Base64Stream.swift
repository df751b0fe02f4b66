/// Base64 of octets that come in pieces of any size.
package struct Base64Stream {
    /// Up to two octets that do not fill a group of three yet.
    private var held: [UInt8] = []

    package init() {}

    package mutating func append(_ piece: UnsafeRawBufferPointer, to writer: inout JSONWriter) {
        var start = 0
        if !self.held.isEmpty {
            while self.held.count < 3, start < piece.count {
                self.held.append(piece[start])
                start += 1
            }
            guard self.held.count == 3 else { return }
            self.finish(&writer)
        }
        let whole = (piece.count - start) / 3 * 3
        let groups = UnsafeRawBufferPointer(rebasing: piece[start..<start + whole])
        writer.append(atMost: Base64.length(of: whole)) { Base64.encode(groups, into: $0) }
        self.held.append(contentsOf: piece[(start + whole)...])
    }

    /// Writes what is held, padded.
    package mutating func finish(_ writer: inout JSONWriter) {
        guard !self.held.isEmpty else { return }
        self.held.withUnsafeBytes { held in
            writer.append(atMost: 4) { Base64.encode(held, into: $0) }
        }
        self.held.removeAll(keepingCapacity: true)
    }
}
