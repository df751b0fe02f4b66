package import CassetteModel
internal import TapeBytes

extension PauseDesk.Decision {
    /// Why a message cannot go on like this; nil if it can. In words that end a sentence, with what to do instead.
    package func problem(for item: PauseDesk.Item) -> String? {
        switch self {
        case .pass, .drop: return nil
        case .change(let content): return content.problem(item, asAnswer: item.stage == .response)
        case .answer(let content):
            guard item.stage == .request || item.stage == .response else {
                return "\(item.stage == .event ? "an event" : "a message") cannot be answered: change it, or drop it"
            }
            return content.problem(item, asAnswer: true)
        }
    }
}

extension PauseDesk.Content {
    private static let methodLimit = 100

    fileprivate func problem(_ item: PauseDesk.Item, asAnswer: Bool) -> String? {
        let isAsItWas = self.body == item.content.body
        if let note = item.bodyNote, !isAsItWas, self.body != nil, !asAnswer || item.stage == .response {
            return "its body cannot be changed (\(note)): leave the body as it is"
        }
        guard item.stage == .request || item.stage == .response else { return nil }
        let problem = asAnswer ? self.answerProblem(item) : self.requestProblem(item)
        return problem ?? self.fieldProblem(besides: item.content.headers)
    }

    private func requestProblem(_ item: PauseDesk.Item) -> String? {
        guard !self.method.isEmpty, self.method.utf8.count <= Self.methodLimit, self.method.utf8.allSatisfy(HeaderEdit.isTokenByte),
            self.method != "CONNECT" || item.method == "CONNECT"
        else { return "\"\(RuleReader.shown(self.method))\" is no method: write one such as GET" }
        guard (self.method == "HEAD") == (item.method == "HEAD") else {
            return "an answer to HEAD has no body, so the method is not changed to it or from it: write another one"
        }
        guard let parts = URLParts(self.url), ["http", "https"].contains(parts.scheme.lowercased()), !parts.authority.isEmpty,
            self.url.utf8.allSatisfy({ $0 > 32 && $0 < 127 && $0 != UInt8(ascii: "#") })
        else { return "\"\(RuleReader.shown(self.url))\" is no absolute URL with http or https: percent-encode what is not ASCII" }
        return nil
    }

    private func answerProblem(_ item: PauseDesk.Item) -> String? {
        guard (200...599).contains(self.status) || item.stage == .response && self.status == item.content.status else {
            return "\(self.status) is no final status: write one from 200 to 599"
        }
        guard HeaderEdit.isValue(Array(self.reason.utf8)) else { return "the reason has control characters in it: remove them" }
        return nil
    }

    /// - Parameter old: fields that are there already, which may stay whatever they are.
    private func fieldProblem(besides old: HeaderFields) -> String? {
        let known = Set((0..<old.count).map { Array(old.line(at: $0)) })
        for index in 0..<self.headers.count where !known.contains(Array(self.headers.line(at: index))) {
            let name = self.headers.name(at: index)
            let shown = RuleReader.shown(name)
            guard !name.isEmpty, name.utf8.allSatisfy(HeaderEdit.isTokenByte) else {
                return "\"\(shown)\" cannot be the name of a header field: write NAME: VALUE on each line"
            }
            guard !HeaderEdit.isFraming(name) else {
                return "\"\(shown)\" says where a message ends, which follows from its body: leave it as it was, or remove it"
            }
            guard HeaderEdit.isValue(Array(self.headers.valueBytes(at: index))) else {
                return "the value of \"\(shown)\" has a control character in it: remove it"
            }
        }
        return nil
    }
}

extension LocalAnswer {
    /// The fields of an answer that a rule may give: without those that belong to a connection, or say how the body is sent.
    package static func fields(of headers: HeaderFields) -> HeaderFields {
        let left: Set<String> = ["connection", "keep-alive", "proxy-connection", "te", "upgrade", "content-encoding"]
        return headers.picking(
            (0..<headers.count).filter { index in
                let name = headers.name(at: index).lowercased()
                return !HeaderEdit.isFraming(name) && !left.contains(name)
            })
    }
}
