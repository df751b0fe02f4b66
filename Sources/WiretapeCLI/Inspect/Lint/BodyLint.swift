internal import CassetteModel

/// What is wrong with one multipart body, each defect with the octets around it.
struct BodyLint {
    struct Finding {
        var problem: MultipartProblem
        var excerpt: LintExcerpt?
    }

    var findings: [Finding]

    /// Nil for a body that nobody says is multipart. Reads it twice where something is wrong.
    init?(_ contents: BodyContents, headers: HeaderFields) throws {
        guard MultipartType(headers) != nil else { return nil }
        var lint = MultipartLint(headers: headers)
        try contents.forEachPiece { lint.push($0) }
        var findings = lint.finish().map { problem in
            Finding(problem: problem, excerpt: problem.offset.map { LintExcerpt($0, size: contents.size) })
        }
        if findings.contains(where: { $0.excerpt != nil }) {
            var offset = 0
            try contents.forEachPiece(while: { piece in
                for index in findings.indices { findings[index].excerpt?.take(piece, at: offset) }
                offset += piece.count
                return true
            })
        }
        self.findings = findings
    }
}
