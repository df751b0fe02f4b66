internal import CassetteModel

/// Takes a multipart body's boundary out of what is compared: it is new in every request, and some clients repeat it in names and
/// part headers.
struct BoundaryMark {
    /// A shorter boundary is a word that may stand in a name by itself; clients' own are 16 octets and more.
    static let shortest = 8
    /// What stands in its place.
    static let octets: [UInt8] = Array("{{boundary}}".utf8)

    private let boundary: [UInt8]

    init(_ boundary: MultipartBoundary) {
        self.boundary = Array(boundary.octets)
    }

    func replaced(in octets: [UInt8]) -> [UInt8] {
        guard self.boundary.count >= Self.shortest, octets.count >= self.boundary.count else { return octets }
        var result: [UInt8] = []
        var offset = 0
        while offset < octets.count {
            if octets.count - offset >= self.boundary.count, octets[offset] == self.boundary[0],
                octets[offset..<offset + self.boundary.count].elementsEqual(self.boundary)
            {
                result += Self.octets
                offset += self.boundary.count
            } else {
                result.append(octets[offset])
                offset += 1
            }
        }
        return result
    }
}
