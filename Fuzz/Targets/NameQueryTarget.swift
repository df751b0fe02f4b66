internal import TapeIsolation

/// A query to the resolver of an isolation: the same bytes give the same answer, answers are well formed, and a query stays the same query
/// with more bytes after its question.
package enum NameQueryTarget: FuzzTarget {
    package static func run(_ input: UnsafeRawBufferPointer) throws {
        let bytes = Array(input)
        let query: NameQuery
        do throws(NameQuery.Problem) {
            query = try NameQuery(bytes)
        } catch {
            guard let answer = error.answer else { return }
            try self.expect(answer.count == 12 && answer[0..<2].elementsEqual(bytes[0..<2]), "a refusal is not a header for the query")
            return
        }
        try self.expect(try NameQuery(bytes + [0, 0, 41, 0]) == query, "bytes after the question change the query")
        try self.expect(query.name.utf8.count <= 3 * 253, "a name is too long")
        let size = query.kind == .address6 ? 16 : 4
        for count in [0, 1, 20] {
            let answer = query.answer(Array(repeating: Array(repeating: 7, count: size), count: count))
            try self.expect(answer[0..<2].elementsEqual(bytes[0..<2]), "an answer has another id")
            try self.expect(answer[2] & 0x80 != 0 && answer[3] & 15 == 0, "an answer is none, or fails")
            try self.expect(Int(answer[7]) == min(count, 16), "an answer has another number of records than it says")
            // The question is repeated byte by byte.
            let question = answer[12..<answer.count - Int(answer[7]) * (12 + size)]
            try self.expect(bytes.dropFirst(12).starts(with: question), "an answer has another question")
        }
        try self.expect(query.failure.count == query.notFound.count, "failures differ in more than their code")
    }
}
