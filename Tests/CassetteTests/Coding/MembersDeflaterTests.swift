import Testing

@testable import CassetteFormat
@testable import CassetteModel

@Suite struct MembersDeflaterTests {
    private static let named = GzipHeader(bytes: [0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 3, 65, 0])

    private func members(_ sizes: [Int?]) -> [GzipMember] {
        sizes.enumerated().map {
            GzipMember(header: $0 == 1 ? Self.named : .plain, parameters: DeflateParameters(level: $0 + 1), size: $1)
        }
    }

    /// Nil if a push returned false.
    private func encode(_ content: [UInt8], _ members: [GzipMember], by step: Int) throws -> [UInt8]? {
        guard var deflater = MembersDeflater(members) else { return nil }
        var wire: [UInt8] = []
        for start in stride(from: 0, to: content.count, by: step) {
            let piece = content[start..<min(start + step, content.count)]
            let wentOn = piece.withUnsafeBytes { deflater.push($0, isLast: false) { wire += $0 } }
            guard wentOn else { return nil }
        }
        return deflater.push(UnsafeRawBufferPointer(start: nil, count: 0), isLast: true, deliver: { wire += $0 }) ? wire : nil
    }

    private func expected(_ content: [UInt8], _ cuts: [Int]) -> [UInt8] {
        let edges = [0] + cuts + [content.count]
        return zip(zip(edges, edges.dropFirst()), self.members(Array(repeating: nil, count: cuts.count + 1))).flatMap { range, member in
            Array(content[range.0..<range.1]).withUnsafeBytes {
                Deflater.encode($0, member.parameters, format: .gzip, header: member.header) ?? []
            }
        }
    }

    @Test(arguments: [1, 7, 100, 713]) func eachMemberTakesItsPartHoweverTheContentComes(_ step: Int) throws {
        let content = CodingFixtures.content
        #expect(try self.encode(content, self.members([100, 300, nil]), by: step) == self.expected(content, [100, 400]))
        #expect(try self.encode(content, self.members([0, 713, nil]), by: step) == self.expected(content, [0, 713]))
        #expect(try self.encode(content, self.members([nil]), by: step) == self.expected(content, []))
    }

    @Test func shorterContentLeavesTheLastMembersEmpty() throws {
        let content = Array("short".utf8)
        #expect(try self.encode(content, self.members([3, 100, nil]), by: 2) == self.expected(content, [3, 5]))
        #expect(try self.encode([], self.members([3, 100, nil]), by: 2) == self.expected([], [0, 0]))
    }

    @Test func whatCannotBeCodedIsRefused() {
        var wrong = self.members([1, nil])
        wrong[1].parameters.level = 10
        for members in [wrong, self.members([-1, nil]), []] {
            let isTaken = if MembersDeflater(members) != nil { true } else { false }
            #expect(!isTaken)
        }
    }
}
