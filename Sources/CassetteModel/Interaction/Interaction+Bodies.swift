extension Interaction {
    /// The bodies there are, with the message each belongs to and its header fields.
    package var bodies: [(message: String, body: Body, headers: HeaderFields)] {
        var bodies: [(message: String, body: Body, headers: HeaderFields)] = []
        if let body = self.request.body { bodies.append(("request", body, self.request.headers)) }
        if let response = self.response, let body = response.body { bodies.append(("response", body, response.headers)) }
        return bodies
    }
}
