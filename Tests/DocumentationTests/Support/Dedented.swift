/// Lines without their common indentation.
enum Dedented {
    static func text(_ lines: [Substring]) -> String {
        let indentation = lines.filter { !$0.allSatisfy { $0 == " " } }.map { $0.prefix { $0 == " " }.count }.min() ?? 0
        return lines.map { line in
            var line = line.dropFirst(min(indentation, line.count))
            while line.last == " " { line.removeLast() }
            return String(line)
        }
        .joined(separator: "\n")
    }
}
